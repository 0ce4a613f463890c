import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { apiVersionOf } from "../kube/kind.ts";
import { expired, json, notFound, projected, Refusal } from "./memory-answers.ts";
import type { ApiContext, Target } from "./memory-api.ts";
import { resourceOf, selection, storeKey } from "./memory-store.ts";

export function readAnswer(request: HttpRequest, target: Target, { store, horizon }: ApiContext): HttpResponse {
  const name = target.name ?? "";
  const object = store.state(resourceOf(target.kind), horizon()).get(storeKey(target.namespace, name));
  if (object === undefined) throw notFound(target.kind, name);
  return json(200, projected(request, object));
}

/** A page; the token holds the snapshot and the last key, so that pages of one list belong together. */
export function listAnswer(request: HttpRequest, target: Target, { store, horizon }: ApiContext): HttpResponse {
  const { kind, namespace, query } = target;
  const token = query.get("continue") ? parseToken(query.get("continue") ?? "") : undefined;
  const version = token?.version ?? Math.min(horizon(), store.version);
  if (token !== undefined && version < store.oldestVersion) {
    throw new Refusal(
      410,
      "Expired",
      "The provided continue parameter is too old to display a consistent list result.",
    );
  }
  const wanted = Number(query.get("resourceVersion") || "0");
  if (query.get("resourceVersionMatch") === "Exact" && wanted < store.oldestVersion) throw expired();
  const matches = selection(namespace, query);
  const all = [...store.state(resourceOf(kind), version)].filter(
    ([key, object]) => matches(object) && (token === undefined || key > token.after),
  );
  const limit = Number(query.get("limit") ?? "0") || all.length;
  const page = all.slice(0, limit);
  const rest = all.length - page.length;
  const last = page.at(-1)?.[0];
  const partial = request.headers["accept"]?.includes("as=PartialObjectMetadataList") === true;
  return json(200, {
    kind: partial ? "PartialObjectMetadataList" : `${kind.kind}List`,
    apiVersion: partial ? "meta.k8s.io/v1" : apiVersionOf(kind),
    metadata: {
      resourceVersion: String(version),
      ...(rest > 0 && last !== undefined && { continue: formatToken(version, last), remainingItemCount: rest }),
    },
    items: page.map(([, object]) => projected(request, object)),
  });
}

const formatToken = (version: number, after: string): string =>
  Buffer.from(JSON.stringify({ version, after })).toString("base64url");

function parseToken(text: string): { readonly version: number; readonly after: string } {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    throw new Refusal(400, "BadRequest", "continue key is not valid");
  }
}
