import type { HttpHandler, HttpRequest, HttpResponse } from "../../src/http/message.ts";

/** An in-process server that plays answers one after the other and remembers what it was asked. */
export interface Script {
  readonly handler: HttpHandler;
  readonly seen: readonly HttpRequest[];
  /** `GET /api/v1/pods` of every request. */
  lines(): string[];
}

export type Step = HttpResponse | Error | ((request: HttpRequest) => HttpResponse | Promise<HttpResponse>);

export function script(...steps: readonly Step[]): Script {
  const seen: HttpRequest[] = [];
  return {
    seen,
    lines: () => seen.map(({ method, target }) => `${method} ${target}`),
    async handler(request) {
      const step = steps[seen.length];
      seen.push(request);
      if (step === undefined) throw new Error(`the script ends before request ${seen.length}: ${request.target}`);
      if (step instanceof Error) throw step;
      return typeof step === "function" ? step(request) : step;
    },
  };
}

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: chunks(JSON.stringify(value)),
});

export const failure = (
  code: number,
  reason: string,
  more: object = {},
  headers: Record<string, string> = {},
): HttpResponse =>
  json(
    code,
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `injected ${code}`,
      reason,
      code,
      ...more,
    },
    headers,
  );

export const stream = (...parts: readonly (string | Uint8Array | Error)[]): HttpResponse => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: chunks(...parts),
});

/** May be read more than once, so that one answer can be played again. */
function chunks(...parts: readonly (string | Uint8Array | Error)[]): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      for (const part of parts) {
        if (part instanceof Error) throw part;
        yield typeof part === "string" ? Buffer.from(part) : part;
      }
    },
  };
}
