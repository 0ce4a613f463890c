import { generateKeyPairSync } from "node:crypto";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { customResourceDefinitions } from "../../src/api/crds.ts";
import type { CallWebhook } from "../../src/apiserver/admission/webhook-call.ts";
import { type ApiServer, createApiServer } from "../../src/apiserver/server.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { WholeBody } from "../../src/http/body.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../src/http/message.ts";
import { type ManualEnv, manualEnv } from "../../src/testing/manual-env.ts";
import { seededRandom } from "../../src/testing/seeded.ts";
import { Journal } from "./journal.ts";
import { isWatch } from "./wire.ts";

/** The embedded API server itself, on a clock that stands still, without sockets, threads or a disk. */
export interface SimulatedApi {
  readonly env: ManualEnv;
  readonly journal: Journal;
  /** As whoever is named, with the rights of an administrator; written down in the journal. */
  readonly as: (who: string) => (request: HttpRequest, sentAtMs: number) => Promise<HttpResponse>;
  /** A client that nothing goes wrong for: the user's, or the checker's. */
  readonly clientOf: (who: string) => Client;
  /** Waits for work of such a client, moving the clock where it must. */
  readonly finish: <T>(work: Promise<T>) => Promise<T>;
  readonly revision: () => number;
  /** Answers the webhooks of a plan; changed by it. */
  webhook: CallWebhook;
  readonly close: () => Promise<void>;
}

export async function startSimulatedApi(seed: number, groups: readonly string[]): Promise<SimulatedApi> {
  const env = manualEnv({ seed });
  const journal = new Journal(env);
  let newest = 1;
  const webhooks: { call: CallWebhook } = { call: () => Promise.reject(new Error("nobody listens")) };
  const server: ApiServer = await createApiServer({
    env,
    file: ":memory:",
    tokens: [{ token, user: { name: "simulation", groups: ["system:masters"] } }],
    tokenKey,
    callWebhook: (...call) => webhooks.call(...call),
  });
  const as = (who: string) => async (request: HttpRequest, sentAtMs: number) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}`, ...impersonation(who) };
    const response = await server.handle({ ...request, headers });
    const answer = isWatch(request) ? empty : await whole(response);
    const dated = { ...response, headers: { ...response.headers, date: env.now().toUTCString() } };
    newest = Math.max(newest, revisionIn(answer));
    journal.record(who, sentAtMs, request, response, answer);
    return isWatch(request) ? dated : { ...dated, body: new WholeBody(answer) };
  };
  const clientOf = (who: string): Client => {
    const handle = as(who);
    const random = seededRandom(seed + 99);
    const transport: HttpHandler = (request) => handle(request, env.monotonicMs());
    return createClient({ env: { ...env, random }, transport });
  };
  const finish = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    over.catch(() => undefined);
    while (!isOver) await env.advance(10);
    return over;
  };
  const admin = clientOf("installer");
  await finish(installKinds(admin, groups));
  return {
    env,
    journal,
    as,
    clientOf,
    finish,
    revision: () => newest,
    get webhook() {
      return webhooks.call;
    },
    set webhook(call) {
      webhooks.call = call;
    },
    close: () => server.close(),
  };
}

const token = "t";
/** One for all runs: it signs tokens, and a new one for every run would be chance from outside. */
const tokenKey = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const empty = new Uint8Array();

/** Only what the story needs: a definition costs more than a hundred requests. */
async function installKinds(client: Client, groups: readonly string[]): Promise<void> {
  for (const definition of customResourceDefinitions)
    if (groups.includes(definition.spec.group)) await client.create(CustomResourceDefinition, definition);
}

/** `plane-2` is the second incarnation of the process that acts as `plane`. */
const impersonation = (who: string): Readonly<Record<string, string>> => ({
  "impersonate-user": who.split("#")[0] ?? who,
  "impersonate-group": "system:masters",
});

async function whole(response: HttpResponse): Promise<Uint8Array> {
  if (response.body instanceof WholeBody) return response.body.chunk;
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function revisionIn(answer: Uint8Array): number {
  const text = Buffer.from(answer.subarray(0, 4096)).toString("latin1");
  return Number(/"resourceVersion":"(\d+)"/.exec(text)?.[1] ?? 0);
}
