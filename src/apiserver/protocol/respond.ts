import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { WholeBody } from "../../http/body.ts";
import type { HttpResponse } from "../../http/message.ts";
import type { StatusError } from "./status-error.ts";

/** Answers as bytes: one place sets lengths, compression and warnings. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Like the real server, only large answers are compressed: small ones cost more time than they save. */
const gzipThresholdBytes = 128 * 1024;

const compressed = promisify<Uint8Array, { level: number }, Buffer>(gzip);

export async function respond(answer: Answer, acceptEncoding: string | undefined): Promise<HttpResponse> {
  if (answer.body.length < gzipThresholdBytes || !/\bgzip\b/.test(acceptEncoding ?? "")) return respondNow(answer);
  const body = await compressed(answer.body, { level: 1 });
  return respondNow({
    ...answer,
    body,
    headers: { vary: "Accept-Encoding", ...answer.headers, "content-encoding": "gzip" },
  });
}

export const respondNow = ({ status, contentType, body, headers }: Answer): HttpResponse => ({
  status,
  headers: {
    "content-type": contentType,
    "cache-control": "no-cache, private",
    "content-length": String(body.length),
    ...headers,
  },
  body: new WholeBody(body),
});

export const json = (status: number, value: unknown, headers?: Readonly<Record<string, string>>): Answer => ({
  status,
  contentType: "application/json",
  body: Buffer.from(JSON.stringify(value)),
  ...(headers && { headers }),
});

export const text = (status: number, value: string): Answer => ({
  status,
  contentType: "text/plain; charset=utf-8",
  body: Buffer.from(value),
});

export function statusAnswer(error: StatusError, warnings: readonly string[] = []): Answer {
  const retryAfter = error.status.details?.retryAfterSeconds;
  const headers = { ...(retryAfter && { "retry-after": String(retryAfter) }), ...warningHeader(warnings) };
  return json(error.code, error.status, headers);
}

/** One header carries all warnings, as RFC 7234 allows. */
export const warningHeader = (warnings: readonly string[]): Readonly<Record<string, string>> =>
  warnings.length === 0 ? {} : { warning: warnings.map((warning) => `299 - ${quoted(warning)}`).join(", ") };

const quoted = (value: string): string => `"${value.replace(/[\\"]/g, "\\$&").replace(/[^\x20-\x7e]/g, " ")}"`;
