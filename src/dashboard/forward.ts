import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import { jsonReply } from "../http/reply.ts";

/**
 * The Kubernetes API under `/k8s`, as the person who is signed in. What comes back stands on the dashboard's own origin,
 * so nothing of it may ever be run as a page: a pod could answer through the API's proxy with a script of its own.
 */
export async function forward(
  { method, headers, body, signal }: HttpRequest,
  target: string,
  credential: string,
  api: HttpHandler,
): Promise<HttpResponse> {
  if (isProxied(target)) return jsonReply(403, { message: "Proxies and terminals are not reached through here." });
  const answer = await api({
    method,
    target,
    headers: { ...only(headers, sentHeaders), authorization: `Bearer ${credential}` },
    ...(body && { body }),
    ...(signal && { signal }),
  });
  return { ...answer, headers: { ...only(answer.headers, answeredHeaders), ...neverAPage } };
}

const sentHeaders = ["accept", "accept-encoding", "content-type", "user-agent"];
const answeredHeaders = [
  "content-type",
  "content-length",
  "content-encoding",
  "cache-control",
  "retry-after",
  "warning",
];

const neverAPage = {
  "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
} as const;

function isProxied(target: string): boolean {
  const path = target.split("?", 1)[0] ?? "";
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return true;
  }
  return decoded.split("/").some((part) => streamed.has(part.toLowerCase()));
}

const streamed = new Set(["proxy", "exec", "attach", "portforward"]);

const only = (headers: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
