import type { TestContext } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { type ClassRuntimeOptions, classRuntimeControllers } from "../../src/controllers/class-runtime/controller.ts";
import { type ClassRuntimeSettings, defaultSettings } from "../../src/controllers/class-runtime/settings.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { HttpHandler } from "../../src/http/message.ts";
import { customResourceDefinition } from "../../src/kube/crd.ts";
import type { Kind, KindRef } from "../../src/kube/kind.ts";
import type { ObjectKey } from "../../src/kube/object.ts";
import { createManager, type Manager } from "../../src/runtime/manager.ts";
import { MetricsRegistry } from "../../src/runtime/metrics.ts";
import { startNode } from "./localnode.ts";

/** The embedded API in memory, a local node that brings workloads alive, and the class runtime controllers. */
export interface ClassWorld {
  readonly client: Client;
  readonly manager: Manager;
  readonly metrics: MetricsRegistry;
  /** What the controllers have written so far, as `verb resource/name`. */
  readonly writes: string[];
  /** Every status of a class runtime that the controllers have written, so that none is missed between two looks. */
  readonly history: readonly ClassRuntime[];
  /** Every Deployment as the controllers' writes left it, for the same reason. */
  readonly deployments: readonly Deployment[];
  installKind(kind: Kind): Promise<void>;
}

export interface ClassWorldOptions extends Omit<ClassRuntimeOptions, "settings"> {
  readonly settings?: Partial<ClassRuntimeSettings>;
  /** False: nobody makes pods, as on a cluster whose nodes are gone. */
  readonly node?: boolean;
  /** Of another API server, which has no node of ours. */
  readonly client?: Client;
}

export const namespace = "shop";

export async function startClassWorld(context: TestContext, options: ClassWorldOptions = {}): Promise<ClassWorld> {
  const env = systemEnv;
  const client =
    options.client ?? (options.node === false ? await startApiOnly(context) : await startWithNode(context));
  const writes: string[] = [];
  const history: ClassRuntime[] = [];
  const deployments: Deployment[] = [];
  const metrics = new MetricsRegistry();
  const manager = createManager({
    env,
    client: counting(client, writes, (kind, object) => {
      if (kind.kind === ClassRuntime.kind) history.push(object as ClassRuntime);
      if (kind.kind === Deployment.kind) deployments.push(object as Deployment);
    }),
    metrics,
  });
  context.after(() => manager.stop());
  const installKind = async (kind: Kind): Promise<void> => {
    await client.create(CustomResourceDefinition, customResourceDefinition(kind));
    await eventually(
      () => client.list(kind, { namespace }),
      () => undefined,
    );
  };
  await client.create(Namespace, { metadata: { name: namespace } });
  await installKind(ClassRuntime);
  await installKind(RemediationRequest);
  const settings = { ...defaultSettings, ...options.settings };
  for (const controller of classRuntimeControllers({ ...options, env, metrics, settings })) manager.add(controller);
  await manager.start();
  return { client, manager, metrics, writes, history, deployments, installKind };
}

const patienceMs = 60_000;
const pollMs = 25;

/** Asks until the answer passes; the last objection is the failure's message. Patient, for machines that are busy. */
export async function eventually<T>(ask: () => Promise<T>, passes: (answer: T) => void): Promise<T> {
  const deadline = performance.now() + patienceMs;
  while (true) {
    try {
      const answer = await ask();
      passes(answer);
      return answer;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Waits for a while in which nothing is written; whoever writes again and again never has one. */
export async function becomesQuiet(writes: readonly string[], forMs: number): Promise<void> {
  await eventually(
    async () => {
      const before = writes.length;
      await new Promise((resolve) => setTimeout(resolve, forMs));
      return writes.slice(before);
    },
    (more) => {
      if (more.length > 0) throw new Error(`written in ${forMs} ms: ${more.join(", ")}`);
    },
  );
}

const startWithNode = async (context: TestContext): Promise<Client> =>
  (await startNode(context, { restartBackoff: { baseMs: 100, maxMs: 1_000 } })).client;

async function startApiOnly(context: TestContext): Promise<Client> {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
  });
  context.after(() => server.close());
  const transport: HttpHandler = (request) =>
    server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } });
  return createClient({ env: systemEnv, transport });
}

/** The same client, which writes down what it is asked to write, events aside. */
function counting(client: Client, writes: string[], written: (kind: KindRef, object: unknown) => void): Client {
  const counted = <A extends readonly unknown[], R extends Promise<unknown>>(
    verb: string,
    call: (...given: A) => R,
  ) => {
    return (...given: A): R => {
      const [kind, target] = given as unknown as [KindRef, ObjectKey & { readonly metadata?: ObjectKey }];
      if (kind.kind !== "Event") writes.push(`${verb} ${kind.plural}/${target.metadata?.name ?? target.name}`);
      const answer = call(...given);
      answer.then(
        (object) => written(kind, object),
        () => undefined,
      );
      return answer;
    };
  };
  const { create, apply, patch, update } = client;
  return {
    ...client,
    create: counted("create", create) as typeof create,
    apply: counted("apply", apply) as typeof apply,
    patch: counted("patch", patch) as typeof patch,
    update: counted("update", update) as typeof update,
    delete: counted("delete", client.delete) as typeof client.delete,
  };
}
