import type { Env } from "../../../env/env.ts";
import type { HttpHandler } from "../../../http/message.ts";

/** Asks a Prometheus over HTTP. The transport is handed in: this file knows paths and answers, not sockets. */
export interface Prometheus {
  /** The mean over the last minutes, or the value now where there is no history; undefined when nothing is known. */
  value(query: string, signal: AbortSignal): Promise<number | undefined>;
}

export interface PrometheusOptions {
  readonly http: HttpHandler;
  /** The path in front of `/api/v1`, for one behind a proxy. */
  readonly prefix?: string;
  readonly env: Env;
  readonly rangeMs?: number;
  readonly stepMs?: number;
  readonly timeoutMs?: number;
}

/** Prometheus answered, but not with a result. */
export class PrometheusError extends Error {
  override readonly name = "PrometheusError";
}

export function createPrometheus(options: PrometheusOptions): Prometheus {
  const { env, rangeMs = 600_000, stepMs = 30_000 } = options;
  return {
    async value(query, signal) {
      const end = Math.floor(env.now().getTime() / 1000);
      const range = { query, start: String(end - rangeMs / 1000), end: String(end), step: String(stepMs / 1000) };
      const mean = meanOf(await ask(options, "query_range", range, signal));
      // No traffic in the window or a young series: the value of this moment is better than nothing.
      if (mean !== undefined && mean > 0) return mean;
      return meanOf(await ask(options, "query", { query }, signal)) ?? mean;
    },
  };
}

const defaultTimeoutMs = 5_000;
const maxAnswerBytes = 8 * 1024 * 1024;

async function ask(
  { env, http, prefix = "", timeoutMs = defaultTimeoutMs }: PrometheusOptions,
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const target = `${prefix}/api/v1/${endpoint}?${new URLSearchParams(parameters)}`;
  const tooLate = new AbortController();
  const cancel = env.setTimer(timeoutMs, () =>
    tooLate.abort(new PrometheusError(`no answer to ${endpoint} within ${timeoutMs} ms`)),
  );
  const limited = AbortSignal.any([signal, tooLate.signal]);
  try {
    const response = await http({ method: "GET", target, headers: { accept: "application/json" }, signal: limited });
    return numbersIn(endpoint, response.status, await textOf(endpoint, response.body));
  } finally {
    cancel();
  }
}

async function textOf(endpoint: string, body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxAnswerBytes)
      throw new PrometheusError(`the answer to ${endpoint} has more than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function numbersIn(endpoint: string, status: number, text: string): readonly number[] {
  const answer = parse(text);
  if (answer?.status !== "success") {
    throw new PrometheusError(`${endpoint} was answered with ${status}: ${answer?.error ?? text.slice(0, 200)}`);
  }
  return (answer.data?.result ?? [])
    .flatMap(({ value, values }) => [...(values ?? []), ...(value ? [value] : [])])
    .map(([, number]) => Number(number))
    .filter(Number.isFinite);
}

interface Answer {
  readonly status?: string;
  readonly error?: string;
  readonly data?: { readonly result?: readonly Series[] };
}
interface Series {
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

function parse(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}

const meanOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
