import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Secret } from "../../src/api/builtin/configuration.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import type { Container } from "../../src/api/builtin/pod-spec.ts";
import { isBadRequest, isNotFound } from "../../src/client/api-error.ts";
import type { Client, LogOptions, NewObject } from "../../src/client/client.ts";
import { isConditionTrue } from "../../src/kube/condition.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";

const pod = (
  name: string,
  args: readonly string[],
  spec: Partial<Pod["spec"]> = {},
  container: Partial<Container> = {},
): NewObject<Pod> => ({
  metadata: { namespace, name },
  spec: {
    restartPolicy: "Never",
    containers: [{ name: "main", image: "capstan:test", args: [...args], ...container }],
    ...spec,
  },
});

async function logs(client: Client, name: string, options: LogOptions = {}): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of client.log({ namespace, name }, options)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const inPhase = (client: Client, name: string, phase: string) =>
  eventually(
    () => client.get(Pod, { namespace, name }),
    ({ status }) => assert.equal(status?.phase, phase, JSON.stringify(status?.containerStatuses)),
  );

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test("containers of our own image are real processes", async (context) => {
  const { client } = await startNode(context, { restartBackoff: { baseMs: 300, maxMs: 1_000 } });
  await eventually(
    () => client.list(ConfigMap, { namespace }),
    ({ items }) => assert.ok(items.length > 0),
  );

  await context.test("with output, an exit code and a last word", async () => {
    await client.create(Pod, pod("done", ["say:hello", "complain:oops", "result:the result", "exit:3"]));
    const { status } = await inPhase(client, "done", "Failed");
    const terminated = status?.containerStatuses?.[0]?.state?.terminated;
    assert.equal(terminated?.exitCode, 3);
    assert.equal(terminated?.reason, "Error");
    assert.equal(terminated?.message, "the result");
    assert.equal((await logs(client, "done")).split("\n").sort().join(), ",hello,oops");
    assert.match(await logs(client, "done", { timestamps: true, tailLines: 1 }), /^\d{4}-\d\d-\d\dT[\d:.]+Z \w+\n$/);
  });

  await context.test("with variables and files from ConfigMaps, Secrets and the pod itself", async () => {
    await client.create(ConfigMap, {
      metadata: { namespace, name: "settings" },
      data: { colour: "green", "app.conf": "a=1" },
    });
    await client.create(Secret, { metadata: { namespace, name: "keys" }, stringData: { token: "s3cret" } });
    const container: Partial<Container> = {
      env: [
        { name: "COLOUR", valueFrom: { configMapKeyRef: { name: "settings", key: "colour" } } },
        { name: "TOKEN", valueFrom: { secretKeyRef: { name: "keys", key: "token" } } },
        { name: "ME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "BOTH", value: "$(COLOUR)-$(ME)-$$(ME)" },
        { name: "CONF", value: "/etc/app/app.conf" },
      ],
      volumeMounts: [
        { name: "settings", mountPath: "/etc/app" },
        { name: "keys", mountPath: "/etc/keys" },
      ],
    };
    const volumes = [
      { name: "settings", configMap: { name: "settings" } },
      { name: "keys", secret: { secretName: "keys", items: [{ key: "token", path: "deep/token" }] } },
    ];
    const args = [
      "env:BOTH",
      "env:TOKEN",
      "env:CONF",
      "cat:/etc/app/app.conf",
      "cat:/etc/keys/deep/token",
      "env:KUBERNETES_SERVICE_HOST",
      "env:HOSTNAME",
      "cat:/var/run/secrets/kubernetes.io/serviceaccount/namespace",
    ];
    await client.create(Pod, pod("full", args, { volumes }, container));
    await inPhase(client, "full", "Succeeded");
    const [both, token, conf, file, secret, host, hostname, inNamespace] = (await logs(client, "full")).split("\n");
    assert.deepEqual([both, token, file, secret], ["BOTH=green-full-$(ME)", "TOKEN=s3cret", "a=1", "s3cret"]);
    assert.match(conf ?? "", /^CONF=.*\/volumes\/settings\/app\.conf$/);
    assert.deepEqual([host, hostname, inNamespace], ["KUBERNETES_SERVICE_HOST=127.0.0.1", "HOSTNAME=full", namespace]);
  });

  await context.test("one that misses its ConfigMap waits for it", async () => {
    const env = [{ name: "LATE", valueFrom: { configMapKeyRef: { name: "late", key: "x" } } }];
    await client.create(Pod, pod("waits", ["env:LATE"], {}, { env }));
    await eventually(
      () => client.get(Pod, { namespace, name: "waits" }),
      ({ status }) => {
        const waiting = status?.containerStatuses?.[0]?.state?.waiting;
        assert.equal(waiting?.reason, "CreateContainerConfigError");
        assert.equal(waiting?.message, 'configmap "late" not found');
      },
    );
    await assert.rejects(logs(client, "waits"), isBadRequest);
    await client.create(ConfigMap, { metadata: { namespace, name: "late" }, data: { x: "here" } });
    await inPhase(client, "waits", "Succeeded");
    assert.equal(await logs(client, "waits"), "LATE=here\n");
  });

  await context.test("one that keeps crashing is started again, later every time", async () => {
    await client.create(Pod, pod("crash", ["say:again", "exit:1"], { restartPolicy: "Always" }));
    const crashed = await eventually(
      () => client.get(Pod, { namespace, name: "crash" }),
      ({ status }) => {
        const [main] = status?.containerStatuses ?? [];
        assert.equal(main?.state?.waiting?.reason, "CrashLoopBackOff");
        assert.ok((main?.restartCount ?? 0) >= 2);
      },
    );
    const [main] = crashed.status?.containerStatuses ?? [];
    assert.match(
      main?.state?.waiting?.message ?? "",
      /^back-off \S+ restarting failed container=main pod=crash_test\(/,
    );
    assert.equal(main?.lastState?.terminated?.exitCode, 1);
    assert.equal(crashed.status?.phase, "Running");
    assert.ok(!isConditionTrue(crashed.status?.conditions, "Ready"));
    assert.equal(await logs(client, "crash"), "again\n");
    assert.equal(await logs(client, "crash", { previous: true }), "again\n");
    await client.delete(Pod, { namespace, name: "crash" });
  });

  await context.test("following a log shows lines as they come, and ends with the container", async () => {
    await client.create(Pod, pod("talks", ["say:one", "sleep:300", "say:two"]));
    await inPhase(client, "talks", "Running");
    assert.equal(await logs(client, "talks", { follow: true }), "one\ntwo\n");
  });

  await context.test("a deleted pod takes its whole process group with it, by force if need be", async () => {
    await client.create(
      Pod,
      pod("family", ["stubborn:", "child:", "sleep:300000"], { terminationGracePeriodSeconds: 1 }),
    );
    await eventually(
      () => logs(client, "family"),
      (text) => assert.match(text, /child \d+/),
    );
    const child = Number(/child (\d+)/.exec(await logs(client, "family"))?.[1]);
    assert.ok(isAlive(child));
    const startedAt = performance.now();
    await client.delete(Pod, { namespace, name: "family" });
    await eventually(
      () => client.get(Pod, { namespace, name: "family" }).then(() => false, isNotFound),
      (isGone) => assert.equal(isGone, true),
    );
    assert.ok(performance.now() - startedAt > 900, "it was given its grace period");
    assert.ok(!isAlive(child), "its child is gone");
  });

  await context.test("a readiness probe decides when it is ready", async () => {
    const readinessProbe = { exec: { command: ["test", "-e", "/work/ready"] }, periodSeconds: 1 };
    const container = { readinessProbe, volumeMounts: [{ name: "work", mountPath: "/work" }] };
    const volumes = [{ name: "work", emptyDir: {} }];
    await client.create(Pod, pod("probed", ["sleep:700", "touch:/work/ready", "sleep:60000"], { volumes }, container));
    await inPhase(client, "probed", "Running");
    const { status } = await client.get(Pod, { namespace, name: "probed" });
    assert.equal(status?.containerStatuses?.[0]?.ready, false);
    await eventually(
      () => client.get(Pod, { namespace, name: "probed" }),
      (probed) => assert.ok(isConditionTrue(probed.status?.conditions, "Ready")),
    );
    await client.delete(Pod, { namespace, name: "probed" }, { gracePeriodSeconds: 0 });
  });

  await context.test("a program that is not there is an error that says so", async () => {
    await client.create(Pod, pod("missing", [], {}, { command: ["no-such-program"] }));
    const { status } = await inPhase(client, "missing", "Failed");
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.reason, "StartError");
  });

  await context.test("foreign images are stood in for, whatever their command", async () => {
    await client.create(Pod, pod("foreign", [], {}, { image: "busybox", command: ["false"] }));
    await inPhase(client, "foreign", "Running");
    assert.equal(await logs(client, "foreign"), "");
  });
});

test("with `all`, every container that has a command is a process", async (context) => {
  const { client } = await startNode(context, { processes: "all" });
  await eventually(
    () =>
      client.create(
        Pod,
        pod("shell", [], {}, { image: "busybox", command: ["sh", "-c", "echo $((6*7)) > /dev/termination-log"] }),
      ),
    () => undefined,
  );
  const { status } = await inPhase(client, "shell", "Succeeded");
  assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.message, "42\n");
});
