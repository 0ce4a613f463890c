// The server under test: the embedded one, started for the run, or any other that a kubeconfig names.
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { type StartedApiServer, startApiServer } from "../../../src/apiserver/start.ts";
import { createClient } from "../../../src/client/create-client.ts";
import { sleep } from "../../../src/env/env.ts";
import { systemEnv } from "../../../src/env/system.ts";
import type { HttpHandler } from "../../../src/http/message.ts";
import { createLocalNode } from "../../../src/localnode/local-node.ts";
import { createManager } from "../../../src/runtime/manager.ts";

export interface Target {
  readonly name: "embedded" | "kubeconfig";
  readonly server: string;
  send(request: WireRequest): Promise<WireResponse>;
  /** A stream of lines, as a watch is; ends with the answer or when the signal is aborted. */
  lines(request: WireRequest, signal: AbortSignal): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Another bearer token than the administrator's; an empty one sends none. */
  readonly token?: string;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

interface Credentials {
  readonly server: string;
  readonly token?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly insecure?: boolean;
}

export async function embeddedTarget({ withNode = false } = {}): Promise<Target & { readonly kubeconfig: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), "capstan-conformance-"));
  const server = await startApiServer({ env: systemEnv, dataDir, port: 0 });
  const target = connect("embedded", { server: server.url, token: server.adminToken, ca: server.caCertificate });
  const node = withNode ? await startNode(server, dataDir, target) : undefined;
  return {
    ...target,
    kubeconfig: server.kubeconfigPath,
    async close() {
      await node?.stop();
      await target.close();
      await server.stop();
      await rm(dataDir, { recursive: true });
    },
  };
}

/** The controllers and the node that `capstan up` has; ready when the first namespace has its account. */
async function startNode(
  { handle, adminToken, url: serverUrl, caCertificate }: StartedApiServer,
  dataDir: string,
  target: Target,
): Promise<{ stop(): Promise<void> }> {
  const transport: HttpHandler = (request) =>
    handle({ ...request, headers: { ...request.headers, authorization: `Bearer ${adminToken}` } });
  const client = createClient({ env: systemEnv, transport });
  const manager = createManager({ env: systemEnv, client });
  const node = createLocalNode({
    env: systemEnv,
    version: "0.0.0-test",
    dataDir,
    image: "capstan:test",
    processes: "own",
    command: [process.execPath],
  });
  for (const controller of node.controllers({ client, serverUrl, caCertificate })) manager.add(controller);
  await manager.start();
  const path = "/api/v1/namespaces/default/serviceaccounts/default";
  while ((await target.send({ method: "GET", path })).status !== 200) await sleep(systemEnv, 25);
  return {
    async stop() {
      await manager.stop();
      await node.stop();
    },
  };
}

export const kubeconfigTarget = (file: string): Target => connect("kubeconfig", readKubeconfig(file));

function readKubeconfig(file: string): Credentials {
  const config = parse(readFileSync(file, "utf8")) as Kubeconfig;
  const context = config.contexts.find(({ name }) => name === config["current-context"])?.context;
  const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = config.users.find(({ name }) => name === context?.user)?.user;
  if (!cluster) throw new Error(`${file}: the current context names no cluster`);
  const data = (inline: string | undefined, path: string | undefined): string | undefined => {
    if (inline !== undefined) return Buffer.from(inline, "base64").toString();
    return path === undefined ? undefined : readFileSync(resolve(dirname(file), path), "utf8");
  };
  const ca = data(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const cert = data(user?.["client-certificate-data"], user?.["client-certificate"]);
  const key = data(user?.["client-key-data"], user?.["client-key"]);
  return {
    server: cluster.server,
    ...(ca !== undefined && { ca }),
    ...(user?.token !== undefined && { token: user.token }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(cluster["insecure-skip-tls-verify"] && { insecure: true }),
  };
}

interface Kubeconfig {
  readonly "current-context": string;
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
  readonly clusters: readonly { readonly name: string; readonly cluster: Cluster }[];
  readonly users: readonly { readonly name: string; readonly user: User }[];
}
interface Cluster {
  readonly server: string;
  readonly "certificate-authority-data"?: string;
  readonly "certificate-authority"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
}
interface User {
  readonly token?: string;
  readonly "client-certificate-data"?: string;
  readonly "client-certificate"?: string;
  readonly "client-key-data"?: string;
  readonly "client-key"?: string;
}

const answerTimeoutMs = 30_000;

function connect(name: Target["name"], credentials: Credentials): Target {
  const { server, token, ca, cert, key, insecure } = credentials;
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(insecure && { rejectUnauthorized: false }),
  };
  const agent = new Agent({ keepAlive: true, ...tls });
  // Requests in another name must not carry the administrator's certificate.
  const strangerAgent = new Agent({
    keepAlive: true,
    ...(ca !== undefined && { ca }),
    ...(insecure && { rejectUnauthorized: false }),
  });
  const open = (request: WireRequest, signal?: AbortSignal) => {
    const bearer = request.token ?? token;
    const sent = httpsRequest(new URL(server + request.path), {
      method: request.method,
      agent: request.token === undefined ? agent : strangerAgent,
      headers: {
        accept: "application/json",
        "user-agent": "conformance/1",
        // Without a length, a DELETE would leave its body behind as the beginning of another request.
        ...(request.body !== undefined && { "content-length": String(Buffer.byteLength(request.body)) }),
        ...(bearer !== undefined && bearer !== "" && { authorization: `Bearer ${bearer}` }),
        ...request.headers,
      },
    });
    signal?.addEventListener("abort", () => sent.destroy(), { once: true });
    sent.end(request.body);
    return sent;
  };
  return {
    name,
    server,
    send: (request) =>
      new Promise((resolve, reject) => {
        const sent = open(request);
        sent.setTimeout(answerTimeoutMs, () =>
          sent.destroy(new Error(`no answer to ${request.method} ${request.path}`)),
        );
        sent.on("error", reject);
        sent.on("response", async (response) => {
          try {
            const chunks: Buffer[] = [];
            for await (const chunk of response) chunks.push(chunk as Buffer);
            const { statusCode = 0, headers } = response;
            resolve({ status: statusCode, headers, text: Buffer.concat(chunks).toString() });
          } catch (error) {
            reject(error);
          }
        });
      }),
    async *lines(request, signal) {
      const response = await new Promise<AsyncIterable<Buffer> & { statusCode?: number }>((resolve, reject) => {
        const sent = open(request, signal);
        sent.on("error", reject);
        sent.on("response", resolve);
      });
      let rest = "";
      try {
        for await (const chunk of response) {
          const lines = (rest + chunk.toString()).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) if (line !== "") yield line;
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      if (rest !== "") yield rest;
    },
    async close() {
      agent.destroy();
      strangerAgent.destroy();
    },
  };
}
