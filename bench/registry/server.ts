// One server for the registry benchmark, as a process of its own so that its CPU time is its own. `kind` is "registry" (on
// the product's listener), "listener" (that listener with nothing behind it) or "floor" (node:http); the last two answer
// as many bytes as they are told. Prints its URL, answers /bench/usage and the registry /bench/memory.
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemEnv } from "../../src/env/system.ts";
import { WholeBody } from "../../src/http/body.ts";
import type { HttpRequest, HttpResponse } from "../../src/http/message.ts";
import { jsonReply, textReply } from "../../src/http/reply.ts";
import { listen } from "../../src/http/server.ts";
import { openAccess } from "../../src/registry/access/access.ts";
import { type Instance, registered } from "../../src/registry/model/instance.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { MemoryLog } from "../../src/registry/storage/memory-log.ts";
import type { RegistryLog } from "../../src/registry/storage/registry-log.ts";
import { openSqlLog } from "../../src/registry/storage/sql-log.ts";
import { openSqlite } from "../../src/store/sqlite-database.ts";
import { type ServerSettings, servedId } from "./served.ts";

const settings = JSON.parse(process.argv[2] ?? "{}") as ServerSettings;

const usage = (): object => {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system, rss: process.memoryUsage().rss };
};

process.once("SIGINT", () => process.exit(0));
if (settings.kind === "floor") {
  const body = Buffer.from(JSON.stringify({ data: "x".repeat(Math.max(0, (settings.answerBytes ?? 100) - 11)) }));
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  const server = createServer((request, response) => {
    if (request.url === "/bench/usage") {
      response.end(JSON.stringify(usage()));
      return;
    }
    if (request.method === "GET") {
      response.writeHead(200, headers).end(body);
      return;
    }
    request.on("data", () => undefined);
    request.on("end", () => response.writeHead(200, headers).end(body));
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
  });
} else if (settings.kind === "listener") {
  const body = new WholeBody("x".repeat(settings.answerBytes ?? 100));
  const headers = { "content-type": "application/json", "content-length": String(body.byteLength) };
  const handler = ({ target }: HttpRequest): HttpResponse =>
    target === "/bench/usage" ? jsonReply(200, usage()) : { status: 200, headers, body };
  const listener = await listen({ env: systemEnv, port: 0, handler });
  console.log(JSON.stringify({ url: listener.url }));
} else {
  const storage = await storageFor(settings);
  const before = usedBytes();
  const registry = createRegistry({ env: systemEnv, storage, access: openAccess });
  await registry.start();
  const bytesPerInstance = (): number => (settings.entries ? (usedBytes() - before) / settings.entries : 0);
  const atStart = bytesPerInstance();
  const handler = (request: HttpRequest): HttpResponse | Promise<HttpResponse> => {
    if (request.target === "/bench/usage") return jsonReply(200, usage());
    if (request.target === "/bench/memory") return jsonReply(200, { bytesPerInstance: bytesPerInstance() });
    const answer = registry.answer(request);
    return answer instanceof Promise ? answer.then(orNothing) : orNothing(answer);
  };
  const listener = await listen({ env: systemEnv, port: 0, handler });
  console.log(JSON.stringify({ url: listener.url, bytesPerInstance: atStart }));
}

/** Without garbage; on V8's heap and beside it. */
function usedBytes(): number {
  global.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function orNothing(answer: HttpResponse | undefined): HttpResponse {
  return answer ?? textReply(404, "");
}

/** What is there from the beginning is made as it is asked for: the benchmark is about serving it. */
async function storageFor({ entries, isDurable }: ServerSettings): Promise<RegistryLog> {
  const base = isDurable
    ? await openSqlLog(systemEnv, await openSqlite(join(mkdtempSync(join(tmpdir(), "capstan-bench-")), "capstan.db")))
    : new MemoryLog(() => systemEnv.now().getTime()).replica();
  if (entries === 0) return base;
  return {
    load: async () => ({ sequence: 0, services: services(entries) }),
    commit: (asked) => base.commit(asked),
    changesAfter: (sequence, limit) => base.changesAfter(sequence, limit),
    saveBeats: (beats) => base.saveBeats(beats),
    follow: (follower) => base.follow(follower),
    prune: (upTo) => base.prune(upTo),
  };
}

function services(count: number): { readonly instance: Instance; readonly lastSeenMs: number }[] {
  const wallMs = systemEnv.now().getTime();
  const pending = {
    timestamp: new Date(wallMs).toISOString(),
    health: "PENDING",
    reason: "pending health check",
  } as const;
  const healthy = { timestamp: new Date(wallMs).toISOString(), health: "HEALTHY", reason: "healthy" } as const;
  return Array.from({ length: count }, (_, index) => ({
    lastSeenMs: wallMs,
    instance: {
      target: {
        id: servedId(index),
        serviceName: `service-${Math.floor(index / 10)}`,
        host: `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
        port: 9000 + (index % 10),
        serviceType: "tool-invoker",
        serviceSubType: null,
        languageName: null,
        languageType: null,
        languageSubType: null,
      },
      owner: "",
      namespace: null,
      registeredAtMs: wallMs,
      order: index + 1,
      report: "HEALTHY",
      reason: "healthy",
      pinged: false,
      missing: false,
      presence: registered,
      states: [pending, healthy],
      lastFailureAtMs: null,
    },
  }));
}
