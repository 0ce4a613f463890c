import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/object.ts";
import { systemNames } from "./controllers.ts";
import { type InstallOptions, installObjects } from "./manifests.ts";

const options: InstallOptions = {
  namespace: "capstan-system",
  image: "capstan:test",
  replicas: 2,
  single: false,
  registryNamespace: "capstan-system",
};
const ofKind = (objects: readonly KubeObject[], kind: string): readonly KubeObject[] =>
  objects.filter((object) => object.kind === kind);

interface Role extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

test("every system gets its own Deployment, ServiceAccount and roles; --single gives one of each", () => {
  const names = (objects: readonly KubeObject[], kind: string): string[] =>
    ofKind(objects, kind)
      .filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === "capstan")
      .map(({ metadata }) => metadata.name);
  for (const kind of ["Deployment", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "PodDisruptionBudget"]) {
    assert.deepEqual(
      names(installObjects(options), kind),
      systemNames.map((name) => `capstan-${name}`),
    );
    assert.deepEqual(names(installObjects({ ...options, single: true }), kind), ["capstan"]);
  }
  assert.deepEqual(names(installObjects({ ...options, replicas: 1 }), "PodDisruptionBudget"), []);
});

test("Services, webhooks and bindings point at something that is installed", () => {
  for (const single of [false, true]) {
    const objects = installObjects({ ...options, single });
    const has = (kind: string, name: string, namespace?: string): boolean =>
      objects.some(
        (object) =>
          object.kind === kind &&
          object.metadata.name === name &&
          (object.metadata.namespace ?? undefined) === namespace,
      );
    const pods = ofKind(objects, "Deployment").map(
      (deployment) => (deployment as Workload).spec.template.metadata.labels,
    );
    for (const service of ofKind(objects, "Service") as Selecting[]) {
      const wanted = Object.entries(service.spec.selector);
      const selected = pods.filter((labels) => wanted.every(([name, value]) => labels[name] === value));
      assert.equal(selected.length, 1, `${service.metadata.name} selects the pods of one Deployment`);
    }
    for (const { kind, metadata, roleRef, subjects } of objects as Binding[]) {
      if (!kind.endsWith("RoleBinding")) continue;
      const namespace = roleRef.kind === "Role" ? metadata.namespace : undefined;
      assert.ok(has(roleRef.kind, roleRef.name, namespace), `${metadata.name} binds ${roleRef.kind} ${roleRef.name}`);
      for (const subject of subjects)
        assert.ok(has("ServiceAccount", subject.name, subject.namespace), `${metadata.name} is for ${subject.name}`);
    }
    const [webhooks] = ofKind(objects, "MutatingWebhookConfiguration") as Webhooks[];
    for (const { clientConfig } of webhooks?.webhooks ?? [])
      assert.ok(has("Service", clientConfig.service.name, clientConfig.service.namespace));
  }
});

interface Workload extends KubeObject {
  readonly spec: { readonly template: { readonly metadata: { readonly labels: Readonly<Record<string, string>> } } };
}
interface Selecting extends KubeObject {
  readonly spec: { readonly selector: Readonly<Record<string, string>> };
}
interface Binding extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly name: string; readonly namespace: string }[];
}
interface Webhooks extends KubeObject {
  readonly webhooks: readonly {
    readonly clientConfig: { readonly service: { readonly name: string; readonly namespace: string } };
  }[];
}

test("roles grant no wildcard and nothing that would let a controller raise itself", () => {
  const roles = [
    ...ofKind(installObjects(options), "ClusterRole"),
    ...ofKind(installObjects(options), "Role"),
  ] as Role[];
  assert.ok(roles.length > 0);
  for (const { metadata, rules } of roles) {
    for (const { apiGroups, resources, verbs } of rules) {
      const words = [...apiGroups, ...resources, ...verbs];
      assert.ok(!words.includes("*"), `${metadata.name} has a wildcard`);
      for (const forbidden of ["escalate", "bind", "impersonate", "deletecollection"])
        assert.ok(!verbs.includes(forbidden), `${metadata.name} may ${forbidden}`);
    }
  }
});

test("pods run under the restricted profile", () => {
  for (const deployment of ofKind(installObjects(options), "Deployment")) {
    const text = JSON.stringify(deployment);
    for (const needed of [
      '"runAsNonRoot":true',
      '"readOnlyRootFilesystem":true',
      '"allowPrivilegeEscalation":false',
      '"drop":["ALL"]',
      '"RuntimeDefault"',
    ]) {
      assert.ok(text.includes(needed), `${deployment.metadata.name} lacks ${needed}`);
    }
  }
});

test("the same options render the same objects, and no two share a name", () => {
  assert.deepEqual(installObjects(options), installObjects(options));
  const ids = installObjects(options).map(
    ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`,
  );
  assert.equal(new Set(ids).size, ids.length);
});
