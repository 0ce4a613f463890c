import type { Env } from "../env/env.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { textReply } from "../http/reply.ts";
import { livenessOf, readinessOf } from "../runtime/health.ts";
import type { Manager } from "../runtime/manager.ts";
import { metricsContentType } from "../runtime/metrics.ts";

/** Answers its own paths and nothing for others; at once where it can. */
export type Part = (request: HttpRequest) => MaybeAnswer | Promise<MaybeAnswer>;
type MaybeAnswer = HttpResponse | undefined;

/** What the HTTP port serves: health and metrics, then the first part that answers. */
export function routes(
  manager: Manager,
  env: Env,
  parts: readonly Part[],
): (request: HttpRequest) => HttpResponse | Promise<HttpResponse> {
  const ready = readinessOf(manager).handler("/readyz");
  const alive = livenessOf(manager, env).handler("/healthz");
  return (request) => {
    const path = request.target.split("?", 1)[0] ?? "";
    if (path === "/metrics") return textReply(200, manager.metrics.expose(), { "content-type": metricsContentType });
    if (path === "/readyz" || path.startsWith("/readyz/")) return ready(request);
    if (path === "/healthz" || path.startsWith("/healthz/")) return alive(request);
    return firstAnswer(parts, request);
  };
}

function firstAnswer(parts: readonly Part[], request: HttpRequest): HttpResponse | Promise<HttpResponse> {
  for (const [index, part] of parts.entries()) {
    const answer = part(request);
    if (answer instanceof Promise) return answer.then((found) => found ?? firstAnswer(parts.slice(index + 1), request));
    if (answer) return answer;
  }
  return textReply(404, "not found\n");
}
