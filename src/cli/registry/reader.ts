import { ConnectionError, CredentialError } from "../../client/connection-error.ts";
import { createProcessHold } from "../../client/process-hold.ts";
import { createTransport } from "../../client/transport.ts";
import { type Env, sleep } from "../../env/env.ts";
import type { HttpResponse } from "../../http/message.ts";
import { Failure } from "../failure.ts";
import { readFrames, type StreamFrame } from "./event-stream.ts";

/** The read side of a registry's HTTP API, as a command needs it: one list, and a feed that survives breaks. */
export interface RegistryReader {
  list(asked: ServiceSearch): Promise<readonly RegisteredService[]>;
  /** What happens from now on. Ends when the signal is aborted; throws when the first connection fails. */
  follow(signal: AbortSignal, told: FollowNotes): AsyncIterable<RegistryEvent>;
  close(): Promise<void>;
}

export interface ServiceSearch {
  readonly serviceName?: string;
  readonly serviceType?: string;
  readonly serviceSubType?: string;
  readonly languageName?: string;
}

export interface RegisteredService {
  readonly id: string;
  readonly serviceName: string;
  readonly host: string;
  readonly port: number;
  readonly serviceType: string | null;
  readonly serviceSubType: string | null;
  readonly languageName: string | null;
  readonly languageType: string | null;
  readonly languageSubType: string | null;
  readonly healthStatus?: string;
  readonly lastSeen?: string | null;
}

export interface RegistryEvent {
  /** The registry's own words, and two of the reader: connected (again) and missed some. */
  readonly eventType: "REGISTER" | "DEREGISTER" | "UPDATE" | "PING" | "CONNECTED" | "GAP";
  readonly id?: string;
  readonly serviceTarget?: RegisteredService | null;
  readonly serviceState?: { readonly healthStatus?: string; readonly reason?: string } | null;
}

export interface FollowNotes {
  lost(reason: string): void;
}

export interface ReaderOptions {
  readonly env: Env;
  readonly url: string;
  readonly tokenFile?: string;
  /** Who signed the registry's certificate, when the system does not know them. */
  readonly caFile?: string;
}

export function openRegistry({ env, url, tokenFile, caFile }: ReaderOptions): RegistryReader {
  const transport = createTransport(
    {
      server: url,
      namespace: "",
      tls: caFile ? { ca: { kind: "File", path: caFile, label: `--registry-ca-file ${caFile}` } } : {},
      credential: tokenFile
        ? { kind: "TokenFile", path: tokenFile, label: `--registry-token-file ${tokenFile}` }
        : { kind: "None" },
    },
    { env },
  );
  // Neither a pause nor a socket that is being opened keeps a process alive.
  const hold = createProcessHold();
  hold.take();

  const get = async (
    target: string,
    signal: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse> => {
    const response = await transport.handle({ method: "GET", target, headers, signal }).catch((error: unknown) => {
      if (error instanceof ConnectionError || error instanceof CredentialError)
        throw new Failure(`the registry at ${url} cannot be reached: ${error.message}`);
      throw error;
    });
    if (response.status === 200) return response;
    const said = messageIn(await textOf(response));
    throw new Failure(`the registry at ${url} answered ${response.status} to ${target}${said ? `: ${said}` : ""}`);
  };

  const data = async (target: string): Promise<unknown> => {
    const limit = timeLimit(env, requestTimeoutMs, url);
    try {
      const text = await textOf(await get(target, limit.signal));
      return (JSON.parse(text) as { readonly data?: unknown }).data;
    } catch (error) {
      if (error instanceof SyntaxError) throw new Failure(`${url} is no registry: its answer to ${target} is not JSON`);
      throw error;
    } finally {
      limit.cancel();
    }
  };

  return {
    async list(asked) {
      const query = new URLSearchParams({ ...asked }).toString();
      const [targets, heard] = await Promise.all([
        data(`/api/v1/capabilities${query && `?${query}`}`),
        // The one listing that has health for services of every type: all that were heard of 0 seconds ago or earlier.
        data("/api/v1/capabilities/stale?maxAgeSeconds=0"),
      ]);
      if (!Array.isArray(targets) || !Array.isArray(heard))
        throw new Failure(`${url} is no registry: it lists nothing`);
      const byId = new Map((heard as RegisteredService[]).map((row) => [row.id, row]));
      return (targets as RegisteredService[]).map((target) => {
        const { healthStatus, lastSeen } = byId.get(target.id) ?? {};
        return { ...target, healthStatus: healthStatus ?? "unknown", lastSeen: lastSeen ?? null };
      });
    },
    async *follow(signal, told) {
      let place: string | undefined;
      let failures = 0;
      while (!signal.aborted) {
        const limit = timeLimit(env, silenceMs, url, signal);
        try {
          const headers = { accept: "text/event-stream", ...(place !== undefined && { "last-event-id": place }) };
          const { body } = await get("/api/v1/capabilities/notifications?resume=true", limit.signal, headers);
          failures = 0;
          if (place === undefined) yield { eventType: "CONNECTED" };
          for await (const frame of readFrames(watched(body, limit.extend))) {
            place = frame.id ?? place;
            const event = eventOf(frame);
            if (event) yield event;
          }
          if (!signal.aborted) told.lost("the registry has ended the feed");
        } catch (error) {
          if (signal.aborted) return;
          if (place === undefined) throw error;
          told.lost((error as Error).message);
        } finally {
          limit.cancel();
        }
        const pauseMs = Math.min(firstPauseMs * 2 ** failures++, maxPauseMs);
        await sleep(env, pauseMs, signal).catch(() => undefined);
      }
    },
    async close() {
      hold.close();
      await transport.close();
    },
  };
}

const requestTimeoutMs = 15_000;
/** The feed says something at least every 15 s, if only that it is alive. */
const silenceMs = 60_000;
const firstPauseMs = 250;
const maxPauseMs = 5_000;

function eventOf({ event, data }: StreamFrame): RegistryEvent | undefined {
  if (data === "") return undefined;
  if (!knownEvents.has(event)) return undefined;
  return JSON.parse(data) as RegistryEvent;
}

const knownEvents: ReadonlySet<string> = new Set(["REGISTER", "DEREGISTER", "UPDATE", "PING", "GAP"]);

interface TimeLimit {
  readonly signal: AbortSignal;
  readonly extend: () => void;
  readonly cancel: () => void;
}

function timeLimit(env: Env, limitMs: number, url: string, outer?: AbortSignal): TimeLimit {
  const late = new AbortController();
  const start = (): (() => void) =>
    env.setTimer(limitMs, () => late.abort(new Failure(`the registry at ${url} was silent for ${limitMs / 1000} s`)));
  let cancel = start();
  return {
    signal: outer ? AbortSignal.any([outer, late.signal]) : late.signal,
    extend() {
      cancel();
      cancel = start();
    },
    cancel: () => cancel(),
  };
}

async function* watched(body: AsyncIterable<Uint8Array>, heard: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    heard();
    yield chunk;
  }
}

async function textOf({ body }: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function messageIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { readonly error?: { readonly message?: string } } | null)?.error?.message;
  } catch {
    return undefined;
  }
}
