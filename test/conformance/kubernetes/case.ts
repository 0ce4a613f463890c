// What a conformance case is written with: requests, expectations and the things that must be cleaned up afterwards.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Target, WireResponse } from "./target.ts";

/** Something that a server may lack; a case that needs it says so. */
export type Capability =
  /** Somebody removes the content of namespaces that are being deleted. */
  | "namespace-controller"
  /** Somebody collects objects whose owners are gone. */
  | "garbage-collector"
  /** Somebody makes pods for workloads. */
  | "workload-controllers"
  /** The server can reach us on loopback. */
  | "same-host"
  /** The embedded server's own promises, beyond what Kubernetes says. */
  | "embedded";

export interface Case {
  readonly name: string;
  readonly needs?: readonly Capability[];
  run(t: Context): Promise<void>;
}

/** A JSON value that is looked into by paths; a path that leads nowhere is undefined. */
export class Json {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  /** `metadata.labels[app.kubernetes.io/name]`, `items[0].spec.replicas`. */
  at(path: string): unknown {
    let value = this.value;
    for (const [, bracketed, plain] of path.matchAll(/\[([^\]]+)\]|([^.[\]]+)/g)) {
      if (typeof value !== "object" || value === null) return undefined;
      value = (value as Record<string, unknown>)[bracketed ?? plain ?? ""];
    }
    return value;
  }

  text = (path: string): string => String(this.at(path) ?? "");
  list = (path: string): readonly Json[] => {
    const value = this.at(path);
    return Array.isArray(value) ? value.map((item) => new Json(item)) : [];
  };
  /** The object itself, to change and send back. */
  object = (path = ""): Record<string, unknown> =>
    (path === "" ? this.value : this.at(path)) as Record<string, unknown>;
}

export class Reply extends Json {
  readonly status: number;
  readonly headers: WireResponse["headers"];
  readonly body: string;

  constructor({ status, headers, text }: WireResponse) {
    super(parsed(text));
    this.status = status;
    this.headers = headers;
    this.body = text;
  }

  header = (name: string): string => String(this.headers[name] ?? "");

  /** Servers send one header for each warning, or all in one. */
  get warnings(): readonly string[] {
    const { warning } = this.headers;
    const all = Array.isArray(warning) ? warning.join(", ") : String(warning ?? "");
    return [...all.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replace(/\\(.)/g, "$1"));
  }
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly accept?: string;
  readonly token?: string;
  readonly raw?: Uint8Array | string;
}

export const json = "application/json";
export const mergePatch = "application/merge-patch+json";
export const jsonPatch = "application/json-patch+json";
export const strategicPatch = "application/strategic-merge-patch+json";
export const applyPatch = "application/apply-patch+yaml";
export const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io";

let counter = 0;

export class Context {
  readonly target: Target;
  readonly id: string;
  readonly #cleanUp: (() => Promise<unknown>)[] = [];
  #namespace: string | undefined;

  constructor(target: Target, runId: string) {
    this.target = target;
    this.id = `${runId}-${++counter}`;
  }

  async request(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<Reply> {
    const payload = options.raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const reply = await this.target.send({
      method,
      path,
      ...(payload !== undefined && { body: payload }),
      ...(options.token !== undefined && { token: options.token }),
      headers: {
        ...(payload !== undefined && { "content-type": options.contentType ?? json }),
        ...(options.accept !== undefined && { accept: options.accept }),
        ...options.headers,
      },
    });
    return new Reply(reply);
  }

  /** As `request`, and the status must be the expected one. */
  async expect(status: number, method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Reply> {
    const reply = await this.request(method, path, body, options);
    assert.equal(reply.status, status, `${method} ${path}: ${reply.body.slice(0, 600)}`);
    return reply;
  }

  get = (path: string, options?: RequestOptions): Promise<Reply> => this.expect(200, "GET", path, undefined, options);
  create = (path: string, body: unknown, options?: RequestOptions): Promise<Reply> =>
    this.expect(201, "POST", path, body, options);
  put = (path: string, body: unknown, options?: RequestOptions): Promise<Reply> =>
    this.expect(200, "PUT", path, body, options);
  remove = (path: string, body?: unknown, options?: RequestOptions): Promise<Reply> =>
    this.expect(200, "DELETE", path, body, options);
  patch = (path: string, contentType: string, body: unknown, status = 200): Promise<Reply> =>
    this.expect(status, "PATCH", path, body, { contentType });
  apply = (
    path: string,
    manager: string,
    body: unknown,
    options: { force?: boolean; status?: number; query?: string } = {},
  ) =>
    this.expect(
      options.status ?? 200,
      "PATCH",
      `${path}?fieldManager=${manager}${options.force ? "&force=true" : ""}${options.query ?? ""}`,
      body,
      { contentType: applyPatch },
    );

  /** A namespace of its own for this case. */
  async namespace(): Promise<string> {
    if (this.#namespace === undefined) {
      const name = `c-${this.id}`;
      await this.create("/api/v1/namespaces", { metadata: { name } });
      this.#namespace = name;
      this.onCleanUp(async () => {
        await this.request("DELETE", `/api/v1/namespaces/${name}`);
        await this.request("PUT", `/api/v1/namespaces/${name}/finalize`, {
          metadata: { name },
          spec: { finalizers: [] },
        });
      });
    }
    return this.#namespace;
  }

  /** The path of a resource of the core group in this case's namespace. */
  async core(resource: string): Promise<string> {
    return `/api/v1/namespaces/${await this.namespace()}/${resource}`;
  }

  async group(group: string, resource: string): Promise<string> {
    return `/apis/${group}/namespaces/${await this.namespace()}/${resource}`;
  }

  onCleanUp(work: () => Promise<unknown>): void {
    this.#cleanUp.push(work);
  }

  async cleanUp(): Promise<void> {
    for (const work of this.#cleanUp.reverse()) await work().catch(() => {});
  }

  /** Asks again until the condition holds. */
  async eventually<T>(what: string, attempt: () => Promise<T | undefined | false>, timeoutMs = 10_000): Promise<T> {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const found = await attempt();
      if (found !== undefined && found !== false) return found as T;
      if (performance.now() > end) assert.fail(`timed out waiting: ${what}`);
      await pause(25);
    }
  }

  /** Opens a watch; events are read one by one. */
  watch(path: string, options: RequestOptions = {}): Watch {
    const watch = new Watch(this.target, path, options);
    this.onCleanUp(async () => watch.stop());
    return watch;
  }

  /** Waits a little: for the few cases that show that nothing happens. */
  pause = (milliseconds: number): Promise<void> => pause(milliseconds);
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Json;
}

export const label = ({ type, object }: WatchEvent): string => `${type} ${object.text("metadata.name")}`;

export class Watch {
  readonly #abort = new AbortController();
  readonly #lines: AsyncIterator<string>;
  #next: Promise<IteratorResult<string>>;

  constructor(target: Target, path: string, options: RequestOptions) {
    const headers = { ...(options.accept !== undefined && { accept: options.accept }), ...options.headers };
    const stream = target.lines(
      { method: "GET", path, headers, ...(options.token !== undefined && { token: options.token }) },
      this.#abort.signal,
    );
    this.#lines = stream[Symbol.asyncIterator]();
    // The request goes out now, not when somebody first looks.
    this.#next = this.#lines.next();
    this.#next.catch(() => {});
  }

  /** The next event; fails when none comes in time. */
  async next(timeoutMs = 10_000): Promise<WatchEvent> {
    const event = await this.nextOrEnd(timeoutMs);
    assert.ok(event, "the watch ended");
    return event;
  }

  /** The next event, or undefined when the stream ends. */
  async nextOrEnd(timeoutMs = 10_000): Promise<WatchEvent | undefined> {
    const timeout = new AbortController();
    const late = pause(timeoutMs, "late" as const, { signal: timeout.signal }).catch(() => "cancelled" as const);
    const result = await Promise.race([this.#next, late]);
    timeout.abort();
    if (typeof result === "string") {
      this.stop();
      return assert.fail(`no event within ${timeoutMs} ms`);
    }
    if (result.done) return undefined;
    this.#next = this.#lines.next();
    this.#next.catch(() => {});
    const event = JSON.parse(result.value) as { type: string; object: unknown };
    return { type: event.type, object: new Json(event.object) };
  }

  stop(): void {
    this.#abort.abort();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The parts of a Status that clients branch on. */
export function assertStatus(reply: Reply, code: number, reason: string, message?: string | RegExp): void {
  assert.equal(reply.status, code, reply.body.slice(0, 600));
  assert.equal(reply.at("kind"), "Status", reply.body.slice(0, 300));
  assert.equal(reply.at("status"), "Failure");
  assert.equal(reply.text("reason"), reason, reply.body.slice(0, 300));
  assert.equal(reply.at("code"), code);
  if (message instanceof RegExp) assert.match(reply.text("message"), message);
  else if (message !== undefined) assert.equal(reply.text("message"), message);
}

export const configMap = (
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: object = {},
): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});
