import type { Endpoint } from "./endpoint.ts";
import type { ApiRequest, User } from "./parts.ts";
import { parseRequestInfo } from "./protocol/request-info.ts";

/** Who the server is to itself. */
export const serverUser: User = { name: "system:apiserver", groups: ["system:masters"] };

/** A request of the server to itself, about a resource. */
export function internalRequest(endpoint: Endpoint, method: "POST" | "DELETE", namespace?: string): ApiRequest {
  const { group, version, plural } = endpoint.resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const target = namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
  const info = parseRequestInfo(method, target);
  if (info.kind !== "Resource") throw new Error(`${target} is not the path of a resource`);
  return {
    http: { method, target, headers: { "content-type": "application/json", "user-agent": "kube-apiserver/v1.36" } },
    info,
    user: serverUser,
    endpoint,
    form: { kind: "Object", yaml: false, pretty: false },
    warnings: [],
  };
}
