import { declare, type FunctionDeclaration, method } from "../../kube/cel/declaration.ts";
import { boolType, type CelType, libraryType, stringType } from "../../kube/cel/type.ts";
import { type CelValue, Opaque } from "../../kube/cel/value.ts";
import type { Decision } from "../auth/attributes.ts";
import type { RbacAuthorizer } from "../auth/rbac.ts";
import type { User } from "../parts.ts";

/**
 * `authorizer` in policies: what else may this user do?
 *
 *     authorizer.group("apps").resource("deployments").namespace("default").check("delete").allowed()
 */
const authorizerType = libraryType("kubernetes.authorization.Authorizer");
const pathCheckType = libraryType("kubernetes.authorization.PathCheck");
const groupCheckType = libraryType("kubernetes.authorization.GroupCheck");
const resourceCheckType = libraryType("kubernetes.authorization.ResourceCheck");
const decisionType = libraryType("kubernetes.authorization.Decision");

export { authorizerType, resourceCheckType };

/** One check costs as much as a third of all that an expression may cost. */
const checkCost = 350_000;

interface Question {
  readonly rbac: RbacAuthorizer;
  readonly user: User;
}

interface ResourceQuestion extends Question {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

class Holder<T> extends Opaque {
  readonly type: CelType;
  readonly held: T;

  constructor(type: CelType, held: T) {
    super();
    this.type = type;
    this.held = held;
  }

  equals(other: CelValue): boolean {
    return this === other;
  }
}

export const authorizerValue = (rbac: RbacAuthorizer, user: User): CelValue =>
  new Holder(authorizerType, { rbac, user });

export const resourceCheckValue = (
  rbac: RbacAuthorizer,
  user: User,
  resource: Omit<ResourceQuestion, "rbac" | "user">,
): CelValue => new Holder(resourceCheckType, { rbac, user, ...resource });

const held = <T>(value: CelValue | undefined): T => (value as Holder<T>).held;
const text = (value: CelValue | undefined): string => String(value);

const narrowed = (member: "subresource" | "namespace" | "name"): FunctionDeclaration =>
  declare(
    member,
    method(`resourcecheck_${member}`, [resourceCheckType, stringType], resourceCheckType, (check, value) => {
      return new Holder(resourceCheckType, { ...held<ResourceQuestion>(check), [member]: text(value) });
    }),
  );

export const authorizerLibrary: readonly FunctionDeclaration[] = [
  declare(
    "path",
    method("authorizer_path", [authorizerType, stringType], pathCheckType, (authorizer, path) => {
      return new Holder(pathCheckType, { ...held<Question>(authorizer), path: text(path) });
    }),
  ),
  declare(
    "group",
    method("authorizer_group", [authorizerType, stringType], groupCheckType, (authorizer, group) => {
      return new Holder(groupCheckType, { ...held<Question>(authorizer), group: text(group) });
    }),
  ),
  declare(
    "serviceAccount",
    method(
      "authorizer_serviceaccount",
      [authorizerType, stringType, stringType],
      authorizerType,
      (authorizer, namespace, name) => {
        const groups = ["system:serviceaccounts", `system:serviceaccounts:${text(namespace)}`, "system:authenticated"];
        const user: User = { name: `system:serviceaccount:${text(namespace)}:${text(name)}`, groups };
        return new Holder(authorizerType, { ...held<Question>(authorizer), user });
      },
    ),
  ),
  declare(
    "resource",
    method("groupcheck_resource", [groupCheckType, stringType], resourceCheckType, (check, resource) => {
      const blank = { subresource: "", namespace: "", name: "" };
      return new Holder(resourceCheckType, {
        ...held<Question & { group: string }>(check),
        ...blank,
        resource: text(resource),
      });
    }),
  ),
  narrowed("subresource"),
  narrowed("namespace"),
  narrowed("name"),
  declare(
    "check",
    method(
      "pathcheck_check",
      [pathCheckType, stringType],
      decisionType,
      (check, verb) => {
        const { rbac, user, path } = held<Question & { path: string }>(check);
        return new Holder(decisionType, rbac.authorize({ kind: "Path", user, verb: text(verb), path }));
      },
      { cost: () => checkCost },
    ),
    method(
      "resourcecheck_check",
      [resourceCheckType, stringType],
      decisionType,
      (check, verb) => {
        const { rbac, ...attributes } = held<ResourceQuestion>(check);
        return new Holder(decisionType, rbac.authorize({ kind: "Resource", ...attributes, verb: text(verb) }));
      },
      { cost: () => checkCost },
    ),
  ),
  declare(
    "allowed",
    method("decision_allowed", [decisionType], boolType, (decision) => held<Decision>(decision).allowed),
  ),
  declare(
    "reason",
    method("decision_reason", [decisionType], stringType, (decision) => held<Decision>(decision).reason),
  ),
  declare(
    "errored",
    method("decision_errored", [decisionType], boolType, () => false),
  ),
  declare(
    "error",
    method("decision_error", [decisionType], stringType, () => ""),
  ),
];
