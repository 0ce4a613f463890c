import type { ContainerStatus, Pod } from "../../api/builtin/pod.ts";
import { badRequest } from "../../apiserver/protocol/status-error.ts";
import type { PodLogQuery, PodLogs } from "../../apiserver/subresources/log.ts";
import type { Env } from "../../env/env.ts";
import { timeMs } from "../workloads/pod-facts.ts";
import type { LogLine, LogStore, OpenLog } from "./log-store.ts";

/** Answers `kubectl logs`. A container that is only stood in for has nothing to say. */
export function podLogsFrom(env: Env, store: LogStore): PodLogs {
  return (query) => {
    const pod = query.pod as Pod;
    const { uid = "" } = pod.metadata;
    const run = chosenRun(pod, query);
    const lines = run === undefined ? [] : (store.read(uid, query.container, run) ?? []);
    const open = run === undefined ? undefined : store.running(uid, query.container, run);
    // Following begins now, not when the first byte is asked for, so that nothing is lost in between.
    const news = open && query.follow && !query.previous ? follow(open, query.signal) : undefined;
    return answer(query, select(lines, query, env.now()), news);
  };
}

function chosenRun(pod: Pod, { container, previous }: PodLogQuery): number | undefined {
  const status = statusOf(pod, container);
  const quoted = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`;
  const restarts = status?.restartCount ?? 0;
  if (previous) {
    if (status?.lastState?.terminated === undefined) throw badRequest(`previous terminated ${quoted} not found`);
    // A container that waits for its restart: the run that ended last is also the newest.
    return status.state?.waiting === undefined ? restarts - 1 : restarts;
  }
  const waiting = status?.state?.waiting;
  if (status === undefined || (waiting !== undefined && status.lastState?.terminated === undefined)) {
    const reason = waiting?.reason ?? "ContainerCreating";
    const why = waiting?.message === undefined ? reason : waiting.message;
    throw badRequest(`${quoted} is waiting to start: ${reason === "ContainerCreating" ? reason : why}`);
  }
  return restarts;
}

const statusOf = ({ status }: Pod, container: string): ContainerStatus | undefined =>
  [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find(
    ({ name }) => name === container,
  );

function select(lines: readonly LogLine[], query: PodLogQuery, now: Date): readonly LogLine[] {
  const sinceMs =
    query.sinceSeconds === undefined ? timeMs(query.sinceTime) : now.getTime() - query.sinceSeconds * 1000;
  const young = sinceMs === undefined ? lines : lines.filter(({ atMs }) => atMs >= sinceMs);
  if (query.tailLines === undefined) return young;
  return query.tailLines === 0 ? [] : young.slice(-query.tailLines);
}

async function* answer(
  { timestamps, limitBytes }: PodLogQuery,
  lines: readonly LogLine[],
  news: Following | undefined,
): AsyncGenerator<Uint8Array> {
  let leftBytes = limitBytes ?? Number.POSITIVE_INFINITY;
  const encode = (some: readonly LogLine[]): Uint8Array => {
    const text = some.map((line) =>
      timestamps ? `${new Date(line.atMs).toISOString()} ${line.text}\n` : `${line.text}\n`,
    );
    const bytes = Buffer.from(text.join("")).subarray(0, leftBytes);
    leftBytes -= bytes.length;
    return bytes;
  };
  try {
    if (lines.length > 0) yield encode(lines);
    for await (const some of news?.lines() ?? []) {
      if (leftBytes <= 0) return;
      yield encode(some);
    }
  } finally {
    news?.stop();
  }
}

interface Following {
  lines(): AsyncGenerator<readonly LogLine[]>;
  stop(): void;
}

/** Lines as they come. A reader who cannot keep up loses the oldest. */
function follow(open: OpenLog, signal: AbortSignal | undefined): Following {
  const waiting: LogLine[] = [];
  let isOver = false;
  let wake: () => void = () => undefined;
  const stopLines = open.follow((lines) => {
    waiting.push(...lines);
    if (waiting.length > maxWaitingLines) waiting.splice(0, waiting.length - maxWaitingLines);
    wake();
  });
  const end = (): void => {
    isOver = true;
    wake();
  };
  const stopClose = open.onClose(end);
  signal?.addEventListener("abort", end, { once: true });
  return {
    async *lines() {
      for (;;) {
        if (waiting.length > 0) yield waiting.splice(0);
        else if (isOver || signal?.aborted) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
    stop() {
      stopLines();
      stopClose();
      signal?.removeEventListener("abort", end);
    },
  };
}

const maxWaitingLines = 50_000;
