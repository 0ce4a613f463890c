import type { HttpRequest } from "../http/message.ts";
import { tokenIssuer } from "./auth/service-account-tokens.ts";
import type { ServerParts } from "./parts.ts";
import type { NonResourceRequestInfo } from "./protocol/request-info.ts";
import { type Answer, json, text } from "./protocol/respond.ts";
import { methodNotAllowed } from "./protocol/status-error.ts";
import { serverVersion } from "./version.ts";

/** Paths that are not about a resource: health, version, discovery, OpenAPI, the public key of tokens. */
export function nonResourceAnswer(parts: ServerParts, request: HttpRequest, info: NonResourceRequestInfo): Answer {
  if (info.verb !== "get" && info.verb !== "head") throw methodNotAllowed();
  const path = info.path.length > 1 ? info.path.replace(/\/$/, "") : info.path;
  switch (path) {
    case "/version":
      return json(200, serverVersion);
    case "/healthz":
    case "/livez":
    case "/readyz":
      return health(parts, path.slice(1), info.query.has("verbose"));
    case "/healthz/ping":
    case "/livez/ping":
    case "/readyz/ping":
      return text(200, "ok");
    case "/.well-known/openid-configuration":
      return json(200, {
        issuer: tokenIssuer,
        jwks_uri: `https://${parts.serverAddress()}/openid/v1/jwks`,
        response_types_supported: ["id_token"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["ES256"],
      });
    case "/openid/v1/jwks":
      return { ...json(200, parts.tokenSigner.jwks), contentType: "application/jwk-set+json" };
    default:
      return (
        parts.openApi.answer(info, request.headers) ??
        parts.discovery.answer(info, request.headers) ??
        text(404, "404 page not found\n")
      );
  }
}

/** Alive as long as it answers; healthy and ready only while writes reach the disk. */
function health({ store }: ServerParts, check: string, isVerbose: boolean): Answer {
  const isFailing = store.failure !== undefined && check !== "livez";
  if (!isFailing && !isVerbose) return text(200, "ok");
  const lines = ["[+]ping ok", isFailing ? `[-]storage failed: ${store.failure?.message}` : "[+]storage ok"];
  return text(isFailing ? 500 : 200, `${lines.join("\n")}\n${check} check ${isFailing ? "failed" : "passed"}\n`);
}
