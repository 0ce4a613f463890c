import type { Env } from "../env/env.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import type { KindRef } from "../kube/kind.ts";
import { json, plainNotFound, Refusal, refusalAnswer } from "./memory-answers.ts";
import { listAnswer, readAnswer } from "./memory-read.ts";
import type { MemoryStore } from "./memory-store.ts";
import { watchAnswer } from "./memory-watch.ts";
import { createAnswer, deleteAnswer, patchAnswer, updateAnswer } from "./memory-write.ts";

/**
 * A small, faithful Kubernetes API without validation: enough for controllers to live in, quick enough for thousands of
 * runs. The embedded API server is the real thing; both are reached through the same client.
 */
export interface MemoryApi {
  readonly handler: HttpHandler;
  serve(kind: ServedKind): void;
}

export type ServedKind = KindRef & { readonly statusSubresource?: boolean };

export interface ApiContext {
  readonly env: Env;
  readonly store: MemoryStore;
  /** How far this replica has come; writes always go to the latest. */
  readonly horizon: () => number;
}

export interface Target {
  readonly kind: ServedKind;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly query: URLSearchParams;
}

export function createMemoryApi(context: ApiContext): MemoryApi {
  const kinds = new Map<string, ServedKind>();
  return {
    serve: (kind) => void kinds.set(`${kind.group}/${kind.version}/${kind.plural}`, kind),
    async handler(request) {
      request.signal?.throwIfAborted();
      try {
        const discovered = discoveryAnswer(request, kinds);
        if (discovered !== undefined) return discovered;
        const target = targetOf(request.target, kinds);
        return target === undefined ? plainNotFound() : await answer(request, target, context);
      } catch (error) {
        if (error instanceof Refusal) return refusalAnswer(error);
        throw error;
      }
    },
  };
}

async function answer(request: HttpRequest, target: Target, context: ApiContext): Promise<HttpResponse> {
  const { method } = request;
  if (target.name === undefined) {
    if (method === "GET")
      return target.query.get("watch") ? watchAnswer(request, target, context) : listAnswer(request, target, context);
    if (method === "POST") return createAnswer(request, target, context);
  } else {
    if (method === "GET") return readAnswer(request, target, context);
    if (method === "PUT") return updateAnswer(request, target, context);
    if (method === "PATCH") return patchAnswer(request, target, context);
    if (method === "DELETE") return deleteAnswer(request, target, context);
  }
  throw new Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

/** `/api/v1/namespaces/NS/PLURAL/NAME/SUB` and its shorter forms. */
function targetOf(text: string, kinds: ReadonlyMap<string, ServedKind>): Target | undefined {
  const url = new URL(text, "http://api");
  const parts = url.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  const [group, version, rest] =
    parts[0] === "api"
      ? ["", parts[1], parts.slice(2)]
      : parts[0] === "apis"
        ? [parts[1], parts[2], parts.slice(3)]
        : [];
  if (group === undefined || version === undefined || rest === undefined) return undefined;
  const inNamespace = rest[0] === "namespaces" && rest.length > 2;
  const [plural, name, subresource] = inNamespace ? rest.slice(2) : rest;
  const kind = kinds.get(`${group}/${version}/${plural}`);
  if (kind === undefined) return undefined;
  const namespace = inNamespace ? rest[1] : undefined;
  return {
    kind,
    query: url.searchParams,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  };
}

/** The unaggregated discovery documents. */
function discoveryAnswer({ target }: HttpRequest, kinds: ReadonlyMap<string, ServedKind>): HttpResponse | undefined {
  const path = target.split("?")[0];
  const served = [...kinds.values()];
  if (path === "/api") return json(200, { kind: "APIVersions", versions: ["v1"] });
  if (path === "/apis") {
    const groups = [...new Set(served.map(({ group }) => group).filter(Boolean))].map((name) => {
      const versions = [...new Set(served.filter(({ group }) => group === name).map(({ version }) => version))].map(
        (version) => ({
          groupVersion: `${name}/${version}`,
          version,
        }),
      );
      return { name, versions, preferredVersion: versions[0] };
    });
    return json(200, { kind: "APIGroupList", apiVersion: "v1", groups });
  }
  const groupVersion = path === "/api/v1" ? { group: "", version: "v1" } : groupVersionOf(path ?? "");
  if (groupVersion === undefined) return undefined;
  const resources = served
    .filter(({ group, version }) => group === groupVersion.group && version === groupVersion.version)
    .map(({ plural, kind, namespaced }) => ({
      name: plural,
      singularName: kind.toLowerCase(),
      namespaced,
      kind,
      verbs: ["get", "list", "watch"],
    }));
  if (resources.length === 0) return undefined;
  const name = groupVersion.group === "" ? groupVersion.version : `${groupVersion.group}/${groupVersion.version}`;
  return json(200, { kind: "APIResourceList", apiVersion: "v1", groupVersion: name, resources });
}

function groupVersionOf(path: string): { readonly group: string; readonly version: string } | undefined {
  const [, group, version] = /^\/apis\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  return group === undefined || version === undefined ? undefined : { group, version };
}
