// Sees executions, their Jobs and remediations as any client does: by watching. Times are those at which a change was seen.
import { Job } from "../../src/api/builtin/job.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import type { Client } from "../../src/client/client.ts";
import { executionAnnotations, jobNamespace } from "../../src/controllers/action-executor/names.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import type { KubeObject } from "../../src/kube/object.ts";

/** When what was seen of one execution, in milliseconds. */
export interface Seen {
  jobCreated?: number;
  jobDone?: number;
  ended?: number;
  phase?: string;
  message?: string;
}

export interface Observer {
  readonly executions: ReadonlyMap<string, Seen>;
  /** When a remediation was seen to be over. */
  readonly remediations: ReadonlyMap<string, number>;
  /** Answers when the execution has ended. */
  ended(name: string): Promise<Seen>;
  remediated(name: string): Promise<number>;
  stop(): void;
}

export async function observe(client: Client): Promise<Observer> {
  const executions = new Map<string, Seen>();
  const remediations = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  const abort = new AbortController();
  const seenOf = (name: string): Seen => {
    const known = executions.get(name) ?? {};
    executions.set(name, known);
    return known;
  };
  const tell = (key: string): void => {
    waiting.get(key)?.();
    waiting.delete(key);
  };
  const follow = async <T extends KubeObject>(kind: KindRef<T>, namespace: string, see: (object: T) => void) => {
    const { metadata } = await client.list(kind, { namespace });
    let resourceVersion = metadata.resourceVersion ?? "";
    void (async () => {
      while (!abort.signal.aborted)
        try {
          for await (const event of client.watch(kind, { namespace, resourceVersion, signal: abort.signal })) {
            resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
            if (event.type === "ADDED" || event.type === "MODIFIED") see(event.object as T);
          }
        } catch (error) {
          if (!abort.signal.aborted) console.error(`the watch of ${kind.plural} broke: ${String(error)}`);
        }
    })();
  };
  await follow(Job, jobNamespace, ({ metadata, status }) => {
    const seen = seenOf(metadata.annotations?.[executionAnnotations.name] ?? "");
    seen.jobCreated ??= performance.now();
    if (status?.conditions?.some(({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True"))
      seen.jobDone ??= performance.now();
  });
  await follow(KubernetesExecution, "bench", ({ metadata, status }) => {
    if (status?.phase === undefined || !endings.has(status.phase)) return;
    const seen = seenOf(metadata.name);
    if (seen.ended !== undefined) return;
    seen.ended = performance.now();
    seen.phase = status.phase;
    seen.message = status.message ?? "";
    tell(metadata.name);
  });
  await follow(RemediationRequest, "bench", ({ metadata, status }) => {
    if (status?.overallPhase !== "completed" || remediations.has(metadata.name)) return;
    remediations.set(metadata.name, performance.now());
    tell(`remediation ${metadata.name}`);
  });
  const wait = (key: string, isThere: () => boolean): Promise<void> =>
    isThere() ? Promise.resolve() : new Promise((resolve) => void waiting.set(key, resolve));
  return {
    executions,
    remediations,
    async ended(name) {
      await wait(name, () => executions.get(name)?.ended !== undefined);
      return seenOf(name);
    },
    async remediated(name) {
      await wait(`remediation ${name}`, () => remediations.has(name));
      return remediations.get(name) ?? Number.NaN;
    },
    stop: () => abort.abort(),
  };
}

const endings: ReadonlySet<string> = new Set(["rollback_ready", "completed", "failed"]);

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(1));
}

/** Runs work for every number, a few at a time. */
export async function inFlight(count: number, together: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: together }, async () => {
      while (next < count) await work(next++);
    }),
  );
}
