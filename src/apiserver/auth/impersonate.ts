import type { HttpRequest } from "../../http/message.ts";
import type { User } from "../parts.ts";
import type { RequestInfo } from "../protocol/request-info.ts";
import { badRequest } from "../protocol/status-error.ts";
import { attributesOf, type ResourceAttributes, refusal } from "./attributes.ts";
import type { RbacAuthorizer } from "./rbac.ts";

/** A user who may act as another asks through Impersonate headers; everything after this sees the other user. */
export function impersonate(authorizer: RbacAuthorizer, user: User, request: HttpRequest, info: RequestInfo): User {
  const { headers } = request;
  const name = headers["impersonate-user"] ?? "";
  const groups = (headers["impersonate-group"] ?? "").split(", ").filter((group) => group !== "");
  const uid = headers["impersonate-uid"] ?? "";
  const extra = extraOf(headers);
  if (name === "" && groups.length === 0 && uid === "" && Object.keys(extra).length === 0) return user;
  if (name === "") {
    throw badRequest(
      `requested &user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:[]string{${groups.map((group) => JSON.stringify(group)).join(", ")}}} without impersonating a user name`,
    );
  }
  for (const attributes of neededRights(user, name, groups, uid, extra)) {
    if (authorizer.authorize(attributes).allowed) continue;
    const verb = `impersonate-on:user-info:${info.verb}`;
    throw refusal({ ...attributesOf(user, info), verb }, "");
  }
  return impersonated(name, groups, uid, extra);
}

function impersonated(
  name: string,
  groups: readonly string[],
  uid: string,
  extra: Readonly<Record<string, readonly string[]>>,
): User {
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const implied =
    groups.length === 0 && account ? ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`] : [];
  const all = [...groups, ...implied];
  const known = name === "system:anonymous" ? "system:unauthenticated" : "system:authenticated";
  return {
    name,
    ...(uid !== "" && { uid }),
    groups: all.includes(known) ? all : [...all, known],
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function neededRights(
  user: User,
  name: string,
  groups: readonly string[],
  uid: string,
  extra: Readonly<Record<string, readonly string[]>>,
): readonly ResourceAttributes[] {
  const right = (
    group: string,
    resource: string,
    object: string,
    namespace = "",
    subresource = "",
  ): ResourceAttributes => ({
    kind: "Resource",
    user,
    verb: "impersonate",
    group,
    resource,
    subresource,
    namespace,
    name: object,
  });
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  return [
    account ? right("", "serviceaccounts", account[2] ?? "", account[1]) : right("", "users", name),
    ...groups.map((group) => right("", "groups", group)),
    ...(uid === "" ? [] : [right("authentication.k8s.io", "uids", uid)]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => right("authentication.k8s.io", "userextras", value, "", key)),
    ),
  ];
}

function extraOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  const extra: Record<string, readonly string[]> = {};
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith(extraPrefix)) continue;
    try {
      extra[decodeURIComponent(header.slice(extraPrefix.length)).toLowerCase()] = value.split(", ");
    } catch {
      throw badRequest(`the header ${header} is not correctly percent-encoded`);
    }
  }
  return extra;
}

const extraPrefix = "impersonate-extra-";
