import type { HttpRequest } from "../../http/message.ts";

/** Web pages: those of this server and those that are allowed by name may speak to the registry, and no others. */
export type OriginVerdict =
  | { readonly kind: "NoPage" }
  | { readonly kind: "Allowed"; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: "Foreign"; readonly origin: string };

export function judgeOrigin({ headers }: HttpRequest, allowed: readonly string[]): OriginVerdict {
  const { origin, host } = headers;
  if (origin === undefined) return noPage;
  if (host !== undefined && (origin === `http://${host}` || origin === `https://${host}`)) return noPage;
  if (!allowed.includes(origin)) return { kind: "Foreign", origin };
  return {
    kind: "Allowed",
    headers: {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": "authorization, content-type, last-event-id",
      vary: "origin",
    },
  };
}

const noPage: OriginVerdict = { kind: "NoPage" };
