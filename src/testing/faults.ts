import type { Env } from "../env/env.ts";
import { sleep } from "../env/env.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import type { StatusCause } from "../kube/object.ts";
import { Refusal, refusalAnswer } from "./memory-answers.ts";

/** What can go wrong between a controller and its API. Rules are tried in order; the first that matches acts. */
export interface FaultRule {
  readonly when: (request: RequestInfo) => boolean;
  /** Acts this often, then never again; for ever when absent. */
  readonly times?: number;
  readonly fault: Fault;
}

export interface RequestInfo {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly isWatch: boolean;
  readonly isWrite: boolean;
}

export type Fault =
  | {
      readonly kind: "Answer";
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
      readonly causes?: readonly StatusCause[];
    }
  /** The request never arrives. */
  | { readonly kind: "Unreachable" }
  /** The request is carried out, but its answer is lost. */
  | { readonly kind: "AnswerLost" }
  /** No answer until the caller gives up. */
  | { readonly kind: "Hang" }
  | { readonly kind: "Delay"; readonly delayMs: number }
  /** Changes what comes back, such as the lines of a watch. */
  | { readonly kind: "Stream"; readonly change: (body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array> }
  /** Another handler answers, such as a replica that lags behind. */
  | { readonly kind: "Elsewhere"; readonly handler: HttpHandler };

export class FaultPlan {
  readonly #rules: { readonly rule: FaultRule; left: number }[] = [];
  readonly requests: RequestInfo[] = [];

  /** Answers how to take the rule back. */
  add(rule: FaultRule): () => void {
    const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.push(entry);
    return () => {
      entry.left = 0;
    };
  }

  clear(): void {
    this.#rules.length = 0;
  }

  /** The handler with the faults in front of it. */
  around(env: Env, handler: HttpHandler): HttpHandler {
    return async (request) => {
      const info = infoOf(request);
      this.requests.push(info);
      const entry = this.#rules.find(({ rule, left }) => left > 0 && rule.when(info));
      if (entry === undefined) return handler(request);
      entry.left--;
      return withFault(env, entry.rule.fault, request, handler);
    };
  }

  count(matches: (request: RequestInfo) => boolean): number {
    return this.requests.filter(matches).length;
  }
}

async function withFault(env: Env, fault: Fault, request: HttpRequest, handler: HttpHandler): Promise<HttpResponse> {
  switch (fault.kind) {
    case "Answer": {
      const { code, reason = "", message = `injected ${code}`, retryAfterSeconds, causes } = fault;
      const details = { ...(retryAfterSeconds !== undefined && { retryAfterSeconds }), ...(causes && { causes }) };
      return refusalAnswer(new Refusal(code, reason, message, details));
    }
    case "Unreachable":
      throw new Error("connect ECONNREFUSED (injected)");
    case "AnswerLost":
      await handler(request);
      throw new Error("socket hang up (injected)");
    case "Hang":
      return new Promise((_, reject) => {
        request.signal?.addEventListener("abort", () => reject(request.signal?.reason), { once: true });
      });
    case "Delay":
      await sleep(env, fault.delayMs, request.signal);
      return handler(request);
    case "Stream": {
      const response = await handler(request);
      return { ...response, body: fault.change(response.body) };
    }
    case "Elsewhere":
      return fault.handler(request);
  }
}

function infoOf(request: HttpRequest): RequestInfo {
  const url = new URL(request.target, "http://api");
  const isWatch = url.searchParams.get("watch") === "true";
  return {
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    isWatch,
    isWrite: request.method !== "GET",
  };
}
