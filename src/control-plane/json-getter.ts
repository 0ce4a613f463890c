import { createTransport, type Transport } from "../client/transport.ts";
import type { Env } from "../env/env.ts";

/** GETs JSON from services that the operator has named, over connections that are kept. */
export interface JsonGetter {
  get(url: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface JsonGetterOptions {
  readonly env: Env;
  /** Who signed the service's certificate, when the system does not know them. */
  readonly caFile?: string;
}

export function createJsonGetter({ env, caFile }: JsonGetterOptions): JsonGetter {
  const transports = new Map<string, Transport>();
  const transportTo = (server: string): Transport => {
    const known = transports.get(server);
    if (known) return known;
    const ca =
      caFile === undefined ? {} : { ca: { kind: "File", path: caFile, label: `the CA of ${server}` } as const };
    const made = createTransport({ server, namespace: "", tls: ca, credential: { kind: "None" } }, { env });
    transports.set(server, made);
    return made;
  };
  return {
    async get(url) {
      const { origin, pathname, search } = new URL(url);
      const tooLong = new AbortController();
      const cancel = env.setTimer(timeoutMs, () =>
        tooLong.abort(new Error(`${url} did not answer in ${timeoutMs} ms`)),
      );
      try {
        const { status, body } = await transportTo(origin).handle({
          method: "GET",
          target: pathname + search,
          headers: { accept: "application/json" },
          signal: tooLong.signal,
        });
        const text = await boundedText(body, url);
        if (status !== 200) throw new Error(`${url} answered ${status}`);
        return JSON.parse(text) as unknown;
      } finally {
        cancel();
      }
    },
    async close() {
      await Promise.all([...transports.values()].map((transport) => transport.close()));
    },
  };
}

const timeoutMs = 10_000;
const maxBytes = 1024 * 1024;

async function boundedText(body: AsyncIterable<Uint8Array>, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > maxBytes) throw new Error(`${url} answered more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
