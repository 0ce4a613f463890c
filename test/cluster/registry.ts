import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Pod } from "../../src/api/builtin/pod.ts";
import { ServiceTarget } from "../../src/api/service-target.ts";
import { type ClusterWorld, eventually, systemNamespace } from "./world.ts";

/** A pod registers itself through the Service, as a service of the cluster would, and says what was acknowledged. */
export async function registryStory(context: TestContext, world: ClusterWorld): Promise<void> {
  await context.test("a pod registers through the Service with its own token, and is seen alive", async () => {
    await startRegistrar(world, { name: "chat", services: 1 });
    await eventually(
      () => world.client.list(ServiceTarget, { namespace: systemNamespace }),
      ({ items }) => {
        const chat = items.find(({ spec }) => spec.serviceName === "chat-0");
        assert.equal(chat?.status?.health, "HEALTHY", JSON.stringify(chat?.status));
      },
    );
  });

  await context.test("without a token for the registry's audience nothing is registered", async () => {
    await startRegistrar(world, { name: "stranger", services: 1, audience: "somebody-else" });
    await eventually(
      () => logOf(world, "stranger"),
      (text) => assert.match(text, /refused 401/),
    );
    const { items } = await world.client.list(ServiceTarget, { namespace: systemNamespace });
    assert.deepEqual(
      items.filter(({ spec }) => spec.serviceName.startsWith("stranger")),
      [],
    );
  });

  await context.test("a pod that says goodbye is gone", async () => {
    for (const name of ["chat", "stranger"])
      await world.client.delete(Pod, { namespace: systemNamespace, name: `registrar-${name}` });
    await eventually(
      () => world.client.list(ServiceTarget, { namespace: systemNamespace }),
      ({ items }) => assert.ok(!items.some(({ spec }) => spec.serviceName === "chat-0")),
    );
  });
}

export interface RegistrarOptions {
  readonly name: string;
  readonly services: number;
  readonly audience?: string;
}

/** A pod of our own image that registers services one after the other and then keeps them alive. */
export async function startRegistrar(world: ClusterWorld, options: RegistrarOptions): Promise<void> {
  const { name, services, audience = "capstan-registry" } = options;
  await world.client.create(Pod, {
    metadata: { name: `registrar-${name}`, namespace: systemNamespace },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 10,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "registrar",
          image: world.image,
          command: ["node", "--input-type=module", "-e", registrarProgram],
          env: [
            { name: "SERVICE_NAME", value: name },
            { name: "SERVICES", value: String(services) },
          ],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          volumeMounts: [{ name: "token", mountPath: "/token", readOnly: true }],
        },
      ],
      volumes: [{ name: "token", projected: { sources: [{ serviceAccountToken: { audience, path: "token" } }] } }],
    },
  });
}

export const logOf = (world: ClusterWorld, name: string): Promise<string> =>
  world.kubectl(["logs", "-n", systemNamespace, `registrar-${name}`]).catch(() => "");

/** The Service is found by the variables that every pod of its namespace gets; nothing here needs a name server. */
const registrarProgram = `
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
const { CAPSTAN_REGISTRY_SERVICE_HOST: host, CAPSTAN_REGISTRY_SERVICE_PORT: port, SERVICE_NAME, SERVICES } = process.env;
const base = "http://" + host + ":" + port + "/api/v1/management/discovery";
const post = async (path, body, method = "POST") => {
  const headers = { authorization: "Bearer " + readFileSync("/token/token", "utf8"), "content-type": "application/json" };
  const answer = await fetch(base + path, { method, headers, body, signal: AbortSignal.timeout(5000) });
  return { status: answer.status, text: await answer.text() };
};
const known = [];
let ending = false;
process.on("SIGTERM", async () => {
  ending = true;
  for (const target of known) await post("", JSON.stringify(target), "DELETE").catch(() => undefined);
  process.exit(0);
});
const beat = async () => {
  while (!ending) {
    if (known.length > 0) await post("/heartbeats", JSON.stringify(known.map(({ id }) => id))).catch((error) => console.log("beat failed", error.message));
    await wait(1000);
  }
};
void beat();
for (let index = 0; index < Number(SERVICES); index++) {
  const target = { serviceName: SERVICE_NAME + "-" + index, host: "10.88.0.1", port: 9000 + index, serviceType: "tool-invoker" };
  while (true) {
    try {
      const answer = await post("", JSON.stringify(target));
      if (answer.status === 200) {
        const { data } = JSON.parse(answer.text);
        known.push(data);
        console.log("acknowledged " + data.id + " " + target.serviceName);
        break;
      }
      console.log("refused " + answer.status);
    } catch (error) {
      console.log("failed " + error.message);
    }
    await wait(500);
  }
}
console.log("all registered");
await new Promise(() => {});
`;
