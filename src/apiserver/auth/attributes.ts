import type { User } from "../parts.ts";
import type { RequestInfo } from "../protocol/request-info.ts";
import type { Named } from "../protocol/status-error.ts";
import { StatusError } from "../protocol/status-error.ts";

/** What an authorizer is asked: may this user do this? */
export type Attributes = ResourceAttributes | PathAttributes;

export interface ResourceAttributes {
  readonly kind: "Resource";
  readonly user: User;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface PathAttributes {
  readonly kind: "Path";
  readonly user: User;
  readonly verb: string;
  readonly path: string;
}

export type Decision =
  | { readonly allowed: true; readonly reason: string }
  /** The reason is empty unless something was wrong with the rules themselves. */
  | { readonly allowed: false; readonly reason: string };

export function attributesOf(user: User, info: RequestInfo): Attributes {
  if (info.kind === "NonResource") return { kind: "Path", user, verb: info.verb, path: info.path };
  const { verb, group, resource, subresource, namespace, name } = info;
  return { kind: "Resource", user, verb, group, resource, subresource, namespace, name };
}

/** The refusal in the words of the real server. */
export function refusal(attributes: Attributes, reason: string): StatusError {
  const why = reason === "" ? "" : `: ${reason}`;
  const { user, verb } = attributes;
  if (attributes.kind === "Path") {
    const message = `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(attributes.path)}${why}`;
    return new StatusError(403, "Forbidden", message, {});
  }
  const { group, resource, subresource, namespace, name } = attributes;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  const named: Named = { group, name: resource };
  const qualified = named.group === "" ? named.name : `${named.name}.${named.group}`;
  return new StatusError(
    403,
    "Forbidden",
    `${qualified}${name === "" ? "" : ` ${JSON.stringify(name)}`} is forbidden: User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${where}${why}`,
    { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: resource },
  );
}
