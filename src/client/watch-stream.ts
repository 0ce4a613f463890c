import type { Env } from "../env/env.ts";
import { sleep } from "../env/env.ts";
import { apiVersionOf, type KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { apiErrorFrom } from "./api-error.ts";
import type { WatchEvent } from "./client.ts";
import { MalformedAnswerError } from "./connection-error.ts";
import { LineSplitter } from "./line-splitter.ts";

/**
 * Turns the bytes of a watch into events. Nothing is skipped: a line that is not an event of the watched kind ends the
 * watch with an error that says which line it was, because going on would lose a change without anybody knowing.
 */
export async function* decodeWatch<T extends KubeObject>(
  chunks: AsyncIterable<Uint8Array>,
  { env, kind, metadataOnly, request }: WatchStreamOptions<T>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const lines = new LineSplitter(maxLineBytes);
  const expected = metadataOnly ? partialMetadata : { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const position = { event: 0, offset: 0 };
  const fail = (problem: string): MalformedAnswerError =>
    new MalformedAnswerError(
      `watch of ${kind.kind} (${apiVersionOf(kind)}), event ${position.event} at byte ${position.offset}: ${problem}`,
    );
  let yieldedAtMs = env.monotonicMs();
  for await (const chunk of chunks) {
    lines.push(chunk);
    for (let line = lines.next(); line !== undefined; line = lines.next()) {
      if (line === "TooLong") throw fail(`the line is longer than ${maxLineBytes} bytes`);
      if (!isBlank(line)) {
        position.event++;
        yield decodeEvent<T>(line, expected, request, fail);
        // Many events in one chunk would otherwise keep timers and other streams waiting until the last of them.
        if (env.monotonicMs() - yieldedAtMs > maxBlockMs) {
          await sleep(env, 0);
          yieldedAtMs = env.monotonicMs();
        }
      }
      position.offset += line.length + 1;
    }
    yieldedAtMs = env.monotonicMs();
  }
  const rest = lines.rest();
  if (isBlank(rest)) return;
  position.event++;
  yield decodeEvent<T>(rest, expected, request, fail);
}

export interface WatchStreamOptions<T extends KubeObject> {
  readonly env: Env;
  readonly kind: KindRef<T>;
  readonly metadataOnly: boolean;
  /** `GET /api/v1/pods?watch=true`: what an error event refused. */
  readonly request: string;
}

/** The initial events of a watch with `sendInitialEvents` end with a bookmark that says so. */
export const isInitialEventsEnd = (event: WatchEvent<KubeObject>): boolean =>
  event.type === "BOOKMARK" && event.object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";

/** Kubernetes stores objects of up to 1.5 MB; one event with escapes and managed fields stays far below this. */
const maxLineBytes = 64 * 1024 * 1024;
/** Longest stretch of decoding before other work gets its turn. */
const maxBlockMs = 10;

const partialMetadata = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };

type Fail = (problem: string) => MalformedAnswerError;

function decodeEvent<T extends KubeObject>(
  line: Uint8Array,
  expected: { readonly apiVersion: string; readonly kind: string },
  request: string,
  fail: Fail,
): WatchEvent<T> {
  const event = parse(line, fail);
  const { type, object } = event;
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: checkObject<T>(object, expected, fail) };
    case "BOOKMARK":
      return { type, object: checkVersion(object, fail) };
    case "ERROR":
      throw apiErrorFrom(request, 500, object);
    default:
      throw fail(`type: Unsupported value: ${JSON.stringify(type)}: not a watch event type`);
  }
}

/** The parser's own message is left out: it quotes the line, which may be a Secret's. */
function parse(line: Uint8Array, fail: Fail): { readonly type?: unknown; readonly object?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(textOf(line));
  } catch {
    throw fail(`${line.length} bytes that are not JSON`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw fail("not a JSON object");
  return value;
}

function checkObject<T extends KubeObject>(
  value: unknown,
  expected: { readonly apiVersion: string; readonly kind: string },
  fail: Fail,
): T {
  const object = checkVersion(value, fail);
  if (object.kind !== expected.kind || object.apiVersion !== expected.apiVersion) {
    const found = `${JSON.stringify(object.kind)} of ${JSON.stringify(object.apiVersion)}`;
    throw fail(`object: it is a ${found}, not a ${expected.kind} of ${expected.apiVersion}`);
  }
  if (typeof object.metadata.name !== "string" || object.metadata.name === "")
    throw fail("object.metadata.name: Required value");
  return object as T;
}

function checkVersion(value: unknown, fail: Fail): KubeObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw fail("object: Required value");
  const object = value as Partial<KubeObject>;
  if (typeof object.metadata?.resourceVersion !== "string" || object.metadata.resourceVersion === "")
    throw fail("object.metadata.resourceVersion: Required value");
  return object as KubeObject;
}

function isBlank(line: Uint8Array): boolean {
  for (const byte of line) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
