import type { Env } from "../env/env.ts";
import type { ObjectKey } from "../kube/object.ts";
import type { AddOptions } from "./queue.ts";

/** Where keys come from besides watches. Runs while its controller runs. */
export interface Source {
  start(enqueue: Enqueue, context: SourceContext): void;
}

export type Enqueue = (key: ObjectKey, options?: AddOptions) => void;

export interface SourceContext {
  readonly env: Env;
  /** Aborted when the controller stops. */
  readonly signal: AbortSignal;
}

/** A source that others feed: what comes before the controller runs waits for it, in bounded number. */
export interface Channel extends Source {
  send(key: ObjectKey, options?: AddOptions): void;
}

export function channel(limit: number = channelLimit): Channel {
  const early: { readonly key: ObjectKey; readonly options?: AddOptions }[] = [];
  let enqueue: Enqueue | undefined;
  return {
    start(give, { signal }) {
      enqueue = give;
      signal.addEventListener("abort", () => {
        enqueue = undefined;
      });
      for (const { key, options } of early.splice(0)) give(key, options);
    },
    send(key, options) {
      if (enqueue !== undefined) return enqueue(key, options);
      if (early.length >= limit) throw new Error(`more than ${limit} keys wait for a controller that does not run`);
      early.push(options === undefined ? { key } : { key, options });
    },
  };
}

/** A source that asks something outside every so often, such as a file or another service. */
export function polled(
  everyMs: number,
  poll: (signal: AbortSignal) => Promise<readonly ObjectKey[]>,
  onError: (error: unknown) => void,
): Source {
  return {
    start(enqueue, { env, signal }) {
      const again = (): void => {
        if (signal.aborted) return;
        poll(signal)
          .then((keys) => {
            for (const key of keys) enqueue(key);
          }, onError)
          .finally(() => {
            if (signal.aborted) return;
            const cancel = env.setTimer(everyMs, () => {
              signal.removeEventListener("abort", cancel);
              again();
            });
            signal.addEventListener("abort", cancel, { once: true });
          });
      };
      again();
    },
  };
}

const channelLimit = 10_000;
