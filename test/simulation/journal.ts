import { createHash } from "node:crypto";
import type { Env } from "../../src/env/env.ts";
import type { HttpRequest, HttpResponse } from "../../src/http/message.ts";
import type { KubeObject } from "../../src/kube/object.ts";

/** Everything that has reached the API, in order, and a hash over it: two runs with one seed must have the same. */
export class Journal {
  readonly writes: Write[] = [];
  requests = 0;
  readonly #env: Env;
  readonly #hash = createHash("sha256");
  readonly #listeners: ((write: Write) => void)[] = [];
  /** The version that every object was last answered with, by uid. */
  readonly #versions = new Map<string, string>();

  constructor(env: Env) {
    this.#env = env;
  }

  /** Called for every write that was carried out, before its answer goes back. */
  onWrite(listener: (write: Write) => void): void {
    this.#listeners.push(listener);
  }

  record(who: string, sentAtMs: number, request: HttpRequest, response: HttpResponse, answer: Uint8Array): void {
    this.requests++;
    const atMs = this.#env.monotonicMs();
    this.#hash.update(`${atMs} ${who} ${request.method} ${request.target} ${response.status}\n`);
    if (request.body) this.#hash.update(request.body);
    if (request.method === "GET" || response.status >= 300 || request.target.includes("dryRun=")) return;
    const written = writeOf(request, answer);
    const { uid = "", resourceVersion = "" } = written.answer.metadata ?? {};
    const isChange = request.method === "DELETE" || this.#versions.get(uid) !== resourceVersion;
    this.#versions.set(uid, resourceVersion);
    const write: Write = { who, sentAtMs, atMs, isChange, ...written };
    this.writes.push(write);
    for (const listener of this.#listeners) listener(write);
  }

  note(text: string): void {
    this.#hash.update(`${this.#env.monotonicMs()} ${text}\n`);
  }

  get digest(): string {
    return this.#hash.copy().digest("hex").slice(0, 16);
  }
}

export interface Write {
  /** `plane-1`: a process and its incarnation, or who else it was. */
  readonly who: string;
  readonly sentAtMs: number;
  readonly atMs: number;
  readonly method: string;
  /** `capabilitybindings` */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly answer: KubeObject & { readonly status?: unknown };
  /** False: it was applied, and everything was so already. */
  readonly isChange: boolean;
}

/** Without leases and events, which a plane writes for ever and which decide nothing. */
export const isOfInterest = ({ resource }: Pick<Write, "resource">): boolean =>
  !["leases", "events"].includes(resource);

export const describeWrite = ({ who, atMs, method, resource, name, subresource }: Write): string =>
  `${Math.round(atMs)} ms ${who} ${method} ${resource}/${name}${subresource && `/${subresource}`}`;

/** What a path is about: `/apis/G/V/namespaces/NS/PLURAL/NAME/SUB` and its shorter forms. */
export function pathParts(target: string): Pick<Write, "resource" | "namespace" | "name" | "subresource"> {
  const parts = (target.split("?")[0] ?? "").split("/").slice(1).map(decodeURIComponent);
  const rest = parts.slice(parts[0] === "api" ? 2 : 3);
  const isNamespaced = rest[0] === "namespaces" && rest.length > 2;
  const [resource = "", name = "", subresource = ""] = isNamespaced ? rest.slice(2) : rest;
  return { resource, name, subresource, namespace: isNamespaced ? (rest[1] ?? "") : "" };
}

function writeOf(request: HttpRequest, answer: Uint8Array): Omit<Write, "who" | "sentAtMs" | "atMs" | "isChange"> {
  const body = parse(request.body);
  const parsed = parse(answer) as unknown as KubeObject;
  const path = pathParts(request.target);
  const named = path.name || parsed.metadata?.name || "";
  return { ...path, name: named, method: request.method, body, answer: parsed };
}

function parse(bytes: Uint8Array | undefined): Readonly<Record<string, unknown>> {
  if (bytes === undefined || bytes.length === 0) return {};
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
