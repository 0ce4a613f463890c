import { type Env, sleep } from "../../src/env/env.ts";
import type { ProcessClock } from "./process-clock.ts";
import { type StreamFault, streamFaults, type WireFault } from "./wire-faults.ts";

interface StreamParts {
  readonly clock: ProcessClock;
  readonly base: Env;
}

/** A watch as a bad network shows it. Faults act on the next event that comes on any stream of the process. */
export async function* faultyStream(
  body: AsyncIterable<Uint8Array>,
  faults: () => WireFault[],
  { clock, base }: StreamParts,
  target: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let kept: Uint8Array | undefined;
  for await (const chunk of body) {
    for (const event of eventsIn(chunk)) {
      if (clock.hasEnded) return;
      const kind = isBookmark(event) ? undefined : takeFault(faults(), target);
      switch (kind) {
        case undefined:
        case "Duplicate":
          break;
        case "End":
          return;
        case "Break":
          throw new Error("read ECONNRESET (injected)");
        case "Garbage":
          yield event.subarray(0, event.length / 2);
          throw new Error("read ECONNRESET (injected)");
        case "Gone":
          yield gone;
          return;
        case "Silent":
          await new Promise(() => undefined);
          return;
        case "Late":
          await sleep(base, lateMs);
          break;
        case "Drop":
          continue;
        case "Swap":
          kept = event;
          continue;
      }
      // On the clock of the process: while it is stopped, nothing is read.
      await new Promise<void>((resolve) => void clock.setTimer(0, resolve));
      yield event;
      if (kind === "Duplicate") yield event;
      if (kept === undefined) continue;
      yield kept;
      kept = undefined;
    }
  }
}

/** Longer than a lease lasts. */
const lateMs = 20_000;

function takeFault(faults: WireFault[], target: string): StreamFault | undefined {
  if (target.includes("/leases")) return undefined;
  const index = faults.findIndex(({ kind }) => (streamFaults as readonly string[]).includes(kind));
  const fault = faults[index];
  if (fault === undefined) return undefined;
  if (--fault.times <= 0) faults.splice(index, 1);
  return fault.kind as StreamFault;
}

/** The server sends whole lines, several at once when a reader is behind. */
function* eventsIn(chunk: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
    yield chunk.subarray(start, end + 1);
    start = end + 1;
  }
  if (start < chunk.length) yield chunk.subarray(start);
}

const isBookmark = (event: Uint8Array): boolean => Buffer.from(event.subarray(0, 60)).includes('"BOOKMARK"');

const gone = Buffer.from(
  `${JSON.stringify({
    type: "ERROR",
    object: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      reason: "Expired",
      code: 410,
      message: "too old resource version (injected)",
    },
  })}\n`,
);
