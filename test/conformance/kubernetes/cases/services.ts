import assert from "node:assert/strict";
import { assertStatus, type Case } from "../case.ts";

/** Addresses, ports, endpoints and events: what depends on other objects or on the server itself. */

const deprecation = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

export const serviceCases: readonly Case[] = [
  {
    name: "services: an address outside of the range is refused",
    async run(t) {
      const spec = { clusterIP: "172.16.0.1", ports: [{ port: 80 }] };
      const reply = await t.request("POST", await t.core("services"), { metadata: { name: "s" }, spec });
      const detail = "failed to allocate IP 172.16.0.1: the provided network does not match the current range";
      const message = `Service "s" is invalid: spec.clusterIPs: Invalid value: ["172.16.0.1"]: ${detail}`;
      assertStatus(reply, 422, "Invalid", message);
    },
  },
  {
    name: "services: an address that is taken is refused",
    async run(t) {
      const path = await t.core("services");
      const ports = [{ port: 80 }];
      const made = await t.create(path, { metadata: { name: "s" }, spec: { ports } });
      const clusterIP = made.text("spec.clusterIP");
      const reply = await t.request("POST", path, { metadata: { name: "z" }, spec: { clusterIP, ports } });
      assertStatus(reply, 422, "Invalid", /failed to allocate IP \S+: provided IP is already allocated$/);
    },
  },
  {
    name: "services: a node port that is taken or out of range is refused",
    async run(t) {
      const path = await t.core("services");
      const service = (name: string, nodePort?: number): object => ({
        metadata: { name },
        spec: { type: "NodePort", ports: [{ port: 80, ...(nodePort !== undefined && { nodePort }) }] },
      });
      const made = await t.create(path, service("s"));
      const taken = Number(made.at("spec.ports[0].nodePort"));
      assertStatus(
        await t.request("POST", path, service("z", taken)),
        422,
        "Invalid",
        `Service "z" is invalid: spec.ports[0].nodePort: Invalid value: ${taken}: provided port is already allocated`,
      );
      const range = "provided port is not in the valid range. The range of valid ports is 30000-32767";
      assertStatus(
        await t.request("POST", path, service("z", 80)),
        422,
        "Invalid",
        `Service "z" is invalid: spec.ports[0].nodePort: Invalid value: 80: ${range}`,
      );
    },
  },
  {
    name: "services: default/kubernetes tells where the server is",
    async run(t) {
      const service = await t.get("/api/v1/namespaces/default/services/kubernetes");
      const endpoints = await t.get("/api/v1/namespaces/default/endpoints/kubernetes");
      const slice = await t.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes");
      assert.equal(endpoints.at("metadata.labels[endpointslice.kubernetes.io/skip-mirror]"), "true");
      assert.equal(slice.at("metadata.labels[kubernetes.io/service-name]"), "kubernetes");
      assert.equal(slice.at("endpoints[0].conditions.ready"), true);
      assert.equal(slice.at("endpoints[0].addresses[0]"), endpoints.at("subsets[0].addresses[0].ip"));
      assert.deepEqual(slice.at("ports[0]"), endpoints.at("subsets[0].ports[0]"));
      assert.equal(endpoints.at("subsets[0].ports[0].port"), service.at("spec.ports[0].targetPort"));
    },
  },
  {
    name: "endpoints: everybody hears that they are on their way out",
    async run(t) {
      const path = await t.core("endpoints");
      const made = await t.create(path, { metadata: { name: "e" } });
      assert.deepEqual(made.warnings, [deprecation]);
      assert.deepEqual((await t.get(path)).warnings, [deprecation]);
      assert.deepEqual((await t.get(`${path}/e`)).warnings, [deprecation]);
      const missing = await t.request("GET", `${path}/no-such`);
      assertStatus(missing, 404, "NotFound");
      assert.deepEqual(missing.warnings, [deprecation]);
      assert.deepEqual((await t.remove(`${path}/e`)).warnings, [deprecation]);
    },
  },
  {
    name: "events: refusals of the new group name the kind alone",
    async run(t) {
      const reply = await t.request("POST", await t.group("events.k8s.io/v1", "events"), { metadata: { name: "x" } });
      const list =
        'involvedObject.namespace: Invalid value: "": does not match event.namespace, eventTime: Required value, type: Invalid value: "": has invalid value: ';
      const message = `Event "x" is invalid: [${list}]`;
      assertStatus(reply, 422, "Invalid", message);
      assert.equal(reply.at("details.group"), undefined);
    },
  },
  {
    name: "events: what an event of the new group says may not change",
    async run(t) {
      const path = await t.group("events.k8s.io/v1", "events");
      await t.create(path, {
        metadata: { name: "x" },
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: "example.com/c",
        reportingInstance: "i",
        action: "a",
        reason: "r",
        type: "Normal",
        note: "hello",
        regarding: { kind: "Pod", namespace: await t.namespace(), name: "p" },
      });
      const change = (body: object) =>
        t.request("PATCH", `${path}/x`, body, { contentType: "application/merge-patch+json" });
      const message = 'Event "x" is invalid: message: Invalid value: "other": field is immutable';
      assertStatus(await change({ note: "other" }), 422, "Invalid", message);
      const series = { count: 2, lastObservedTime: "2026-01-02T00:00:00.000000Z" };
      assert.equal((await change({ series })).status, 200);
    },
  },
  {
    name: "ingresses: one without a class gets the default one",
    async run(t) {
      const classes = "/apis/networking.k8s.io/v1/ingressclasses";
      const name = `c-${t.id}`;
      await t.create(classes, {
        metadata: { name, annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
        spec: { controller: "example.com/c" },
      });
      t.onCleanUp(() => t.request("DELETE", `${classes}/${name}`));
      const made = await t.create(await t.group("networking.k8s.io/v1", "ingresses"), {
        metadata: { name: "i" },
        spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
      });
      assert.match(made.text("spec.ingressClassName"), /^c-/);
    },
  },
];
