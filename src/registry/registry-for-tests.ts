import type { Env } from "../env/env.ts";
import type { HttpRequest } from "../http/message.ts";
import { openAccess } from "./access/access.ts";
import { createRegistry, type Registry, type RegistryOptions } from "./registry.ts";
import { MemoryLog } from "./storage/memory-log.ts";

/** A registry on a test's own clock and a log in memory, and a client that speaks to it without a socket. */
export interface RegistryWorld<E extends Env> {
  readonly env: E;
  readonly registry: Registry;
  readonly memory: MemoryLog;
  /** Another replica of the same registry. */
  replica(own?: Partial<RegistryOptions>): Promise<Registry>;
  call(method: string, target: string, body?: unknown, headers?: Record<string, string>): Promise<Called>;
  /** Registers in dialect B and answers the id. */
  register(own?: Readonly<Record<string, unknown>>): Promise<string>;
  ping(id: string): Promise<Called>;
  names(query?: string): Promise<readonly string[]>;
}

export interface Called {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** What the envelope holds. */
  readonly data: unknown;
  readonly message: string | undefined;
}

export async function registryWorld<E extends Env>(
  env: E,
  own: Partial<RegistryOptions> = {},
): Promise<RegistryWorld<E>> {
  const memory = new MemoryLog(() => env.now().getTime());
  const replica = async (others: Partial<RegistryOptions> = {}): Promise<Registry> => {
    const made = createRegistry({ env, storage: memory.replica(), access: openAccess, ...own, ...others });
    await made.start();
    return made;
  };
  const registry = await replica();
  const call = (
    method: string,
    target: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Called> => callRegistry(registry, { method, target, headers, ...bodyOf(body) });
  return {
    env,
    registry,
    memory,
    replica,
    call,
    async register(fields = {}) {
      const { data } = await call("POST", discoveryPath, { serviceName: "s", host: "h", port: 1, ...fields });
      return (data as { id: string }).id;
    },
    ping: (id) => call("POST", `${discoveryPath}/heartbeats`, id),
    async names(query = "") {
      const { data } = await call("GET", `/api/v1/capabilities${query}`);
      return (data as { serviceName: string }[]).map(({ serviceName }) => serviceName);
    },
  };
}

export const discoveryPath = "/api/v1/management/discovery";

export async function callRegistry(registry: Registry, request: HttpRequest): Promise<Called> {
  const response = await registry.handle(request);
  if (!response) return { status: 0, headers: {}, text: "", data: undefined, message: undefined };
  let text = "";
  for await (const chunk of response.body) text += new TextDecoder().decode(chunk);
  let envelope: { data?: unknown; error?: { message?: string } } = {};
  try {
    envelope = JSON.parse(text) as typeof envelope;
  } catch {
    // Some answers have no body.
  }
  const { status, headers } = response;
  return { status, headers, text, data: envelope.data, message: envelope.error?.message };
}

function bodyOf(body: unknown): { readonly body?: Uint8Array } {
  if (body === undefined) return {};
  return { body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)) };
}
