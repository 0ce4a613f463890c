/** The registry's discovery API as a client calls it (dialect B). Runs wherever there is a `fetch`. */
export interface DiscoveryService {
  register(target: RegistrationTarget): Promise<Outcome<RegistrationTarget & { readonly id: string }>>;
  deregister(target: RegistrationTarget): Promise<Outcome<null>>;
  /** Says whether the registry knows the id. */
  ping(id: string): Promise<Outcome<{ readonly isKnown: boolean }>>;
  update(
    id: string,
    state: { readonly healthy: boolean; readonly reason: string; readonly timestamp: string },
  ): Promise<Outcome<null>>;
}

/** What a service says of itself. */
export interface RegistrationTarget {
  readonly id?: string | null;
  readonly serviceName: string;
  readonly host: string;
  readonly port: number;
  readonly serviceType?: string | null;
  readonly serviceSubType?: string | null;
  readonly languageName?: string | null;
  readonly languageType?: string | null;
  readonly languageSubType?: string | null;
}

/** The HTTP status always; a status of 0 means that there was no answer at all. */
export type Outcome<T> =
  | { readonly ok: true; readonly status: number; readonly data: T }
  | { readonly ok: false; readonly status: number; readonly message: string };

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** A goodbye is sent even when the page that says it is gone. */
  readonly keepalive: boolean;
}
export interface FetchAnswer {
  readonly status: number;
  text(): Promise<string>;
}

export interface DiscoveryOptions {
  /** `http://registry:8080` */
  readonly url: string;
  readonly fetch: Fetch;
  /** Asked before every request, so that tokens can be exchanged. */
  readonly token?: (() => Promise<string>) | undefined;
  readonly requestTimeoutMs: number;
}

export function discoveryService({ url, fetch, token, requestTimeoutMs }: DiscoveryOptions): DiscoveryService {
  const base = `${url.replace(/\/+$/, "")}/api/v1/management/discovery`;

  const send = async (method: string, path: string, body: unknown): Promise<Outcome<unknown>> => {
    try {
      const credential = await token?.();
      const request = fetch;
      const answer = await request(base + path, {
        method,
        headers: {
          "content-type": "application/json",
          ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(requestTimeoutMs),
        keepalive: method === "DELETE",
      });
      return outcomeOf(answer.status, await answer.text());
    } catch (error) {
      return { ok: false, status: 0, message: error instanceof Error ? error.message : String(error) };
    }
  };

  return {
    async register(target) {
      const outcome = await send("POST", "", target);
      if (!outcome.ok) return outcome;
      const registered = outcome.data as (RegistrationTarget & { readonly id: string }) | null;
      if (typeof registered?.id === "string") return { ok: true, status: outcome.status, data: registered };
      return { ok: false, status: outcome.status, message: "the registry gave no id" };
    },
    async deregister(target) {
      const outcome = await send("DELETE", "", target);
      return outcome.ok ? { ...outcome, data: null } : outcome;
    },
    async ping(id) {
      // As an array, because then the registry says which ids it does not know.
      const outcome = await send("POST", "/heartbeats", [id]);
      if (!outcome.ok) return outcome;
      const { unknown } = (outcome.data ?? {}) as { unknown?: readonly string[] };
      return { ...outcome, data: { isKnown: !unknown?.includes(id) } };
    },
    async update(id, state) {
      const outcome = await send("POST", `/update/${encodeURIComponent(id)}`, state);
      return outcome.ok ? { ...outcome, data: null } : outcome;
    },
  };
}

function outcomeOf(status: number, text: string): Outcome<unknown> {
  const envelope = parsed(text);
  if (status === 200) return { ok: true, status, data: envelope.data };
  return { ok: false, status, message: envelope.error?.message ?? `the registry answered ${status}` };
}

function parsed(text: string): { readonly data?: unknown; readonly error?: { readonly message?: string } | null } {
  try {
    return (JSON.parse(text) ?? {}) as { data?: unknown };
  } catch {
    return {};
  }
}
