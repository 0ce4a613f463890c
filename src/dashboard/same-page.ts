import type { HttpRequest } from "../http/message.ts";

/**
 * Whether a request was made by our own page. Cookies do not tell: a page on another port of this machine is the same
 * site to a browser and sends them along, so the browser's own word about where a request comes from decides.
 */
export function isFromThisPage({ method, headers }: HttpRequest): boolean {
  const site = headers["sec-fetch-site"];
  const origin = headers["origin"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  if (origin !== undefined && !isOwnOrigin(origin, headers["host"])) return false;
  if (method === "GET" || method === "HEAD") return true;
  // Whatever changes something must be told by a browser to come from here: a typed address or silence is not enough.
  return site === "same-origin" || (site === undefined && origin !== undefined);
}

function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const parsed = URL.parse(origin);
  return parsed !== null && host !== undefined && parsed.host === host.toLowerCase();
}

/** The name a request calls us by, without its port. */
export function hostnameOf({ headers }: HttpRequest): string {
  return (headers["host"] ?? "")
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();
}

/** A name on another machine that was made to point here (DNS rebinding) is none of these. */
export const isLoopbackName = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "::1" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
