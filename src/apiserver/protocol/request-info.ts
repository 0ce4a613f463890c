import { badRequest } from "./status-error.ts";

/**
 * What a request is about, read from its method, path and query alone: the same reading serves routing, authorization,
 * admission and the words of errors.
 */
export type RequestInfo = ResourceRequestInfo | NonResourceRequestInfo;

export interface ResourceRequestInfo {
  readonly kind: "Resource";
  readonly verb: string;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly query: URLSearchParams;
}

export interface NonResourceRequestInfo {
  readonly kind: "NonResource";
  /** The method in lower case. */
  readonly verb: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

export function parseRequestInfo(method: string, target: string): RequestInfo {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? noQuery : new URLSearchParams(target.slice(mark + 1));
  const nonResource = { kind: "NonResource", verb: method.toLowerCase(), path, query } as const;
  const [root, ...rest] = splitPath(path);
  if (root === "api") return resourceInfo(method, path, query, "", rest) ?? nonResource;
  if (root === "apis") return resourceInfo(method, path, query, rest[0] ?? "", rest.slice(1)) ?? nonResource;
  return nonResource;
}

const noQuery = new URLSearchParams();

function splitPath(path: string): readonly string[] {
  const segments = path.split("/");
  // An empty first and last segment stand for the slashes around the path.
  if (segments[0] === "") segments.shift();
  if (segments.at(-1) === "") segments.pop();
  try {
    return segments.map((segment) => (segment.includes("%") ? decodeURIComponent(segment) : segment));
  } catch {
    throw badRequest(`the path ${JSON.stringify(path)} is not correctly percent-encoded`);
  }
}

/** After `/api` or `/apis/GROUP`: VERSION[/watch][/namespaces/NAMESPACE]/RESOURCE[/NAME[/SUBRESOURCE]]. */
function resourceInfo(
  method: string,
  path: string,
  query: URLSearchParams,
  group: string,
  [version, ...segments]: readonly string[],
): ResourceRequestInfo | undefined {
  if (version === undefined || segments.length === 0) return undefined;
  const watchPrefix = segments[0] === "watch" && segments.length > 1;
  let parts = watchPrefix ? segments.slice(1) : segments;
  let namespace = "";
  if (parts[0] === "namespaces" && parts[1] !== undefined) {
    namespace = parts[1];
    // `namespaces/NAME`, `namespaces/NAME/status` and `…/finalize` are about the namespace itself.
    if (parts.length > 2 && !namespaceSubresources.has(parts[2] ?? "")) parts = parts.slice(2);
  }
  const [resource = "", name = "", ...subresources] = parts;
  return {
    kind: "Resource",
    verb: verbOf(method, name, watchPrefix, query),
    path,
    group,
    version,
    namespace,
    resource,
    subresource: subresources.join("/"),
    name,
    query,
  };
}

const namespaceSubresources: ReadonlySet<string> = new Set(["status", "finalize"]);

function verbOf(method: string, name: string, watchPrefix: boolean, query: URLSearchParams): string {
  switch (method) {
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    case "GET":
    case "HEAD":
      if (watchPrefix || (name === "" && isTrue(query.get("watch")))) return "watch";
      return name === "" ? "list" : "get";
    default:
      return method.toLowerCase();
  }
}

/** As the real server reads booleans of a query: anything but a clear no counts as yes. */
export const isTrue = (value: string | null): boolean =>
  value !== null && value !== "" && value !== "0" && value !== "false";
