import { type FieldError, invalid as invalidField } from "../../kube/field-error.ts";
import type { KubeObject } from "../../kube/object.ts";
import { decodeObject } from "../decode/object.ts";
import { parseWriteOptions } from "../decode/write-options.ts";
import { encodeValue } from "../encode/object.ts";
import type { ApiRequest, ServerParts, User } from "../parts.ts";
import { type Answer, warningHeader } from "../protocol/respond.ts";
import { badRequest, invalid } from "../protocol/status-error.ts";
import { timestamp } from "../writes/metadata.ts";
import type { Attributes } from "./attributes.ts";
import type { PolicyRule } from "./rbac-objects.ts";
import { tokenIssuer } from "./service-account-tokens.ts";

type Review = KubeObject & { readonly spec: Readonly<Record<string, unknown>> };
type Judge = (parts: ServerParts, request: ApiRequest, review: Review) => object;

/** Questions in the form of objects: answered at once, never stored. */
const judges: Readonly<Record<string, Judge>> = {
  "authentication.k8s.io/selfsubjectreviews": (_parts, { user }) => ({ userInfo: userInfo(user) }),
  "authentication.k8s.io/tokenreviews": reviewToken,
  "authorization.k8s.io/selfsubjectaccessreviews": (parts, { user }, { spec }) => reviewAccess(parts, spec, user),
  "authorization.k8s.io/subjectaccessreviews": (parts, _request, { spec }) =>
    reviewAccess(parts, spec, subjectOf(spec)),
  "authorization.k8s.io/localsubjectaccessreviews": reviewLocalAccess,
  "authorization.k8s.io/selfsubjectrulesreviews": reviewRules,
};

export const isReview = ({ resource }: ApiRequest["endpoint"]): boolean =>
  `${resource.group}/${resource.plural}` in judges;

export function answerReview(parts: ServerParts, request: ApiRequest): Answer {
  const { resource, apiVersion } = request.endpoint;
  const judge = judges[`${resource.group}/${resource.plural}`];
  if (!judge) throw new Error(`${resource.plural} is not a review`);
  const options = parseWriteOptions(request, "CreateOptions");
  const decoded = decodeObject(parts, request, options) as Review;
  const review: Review = { ...decoded, spec: decoded.spec ?? {} };
  const status = judge(parts, request, review);
  const { kind } = resource;
  const answer =
    resource.plural === "selfsubjectreviews"
      ? { kind, apiVersion, metadata: { creationTimestamp: timestamp(parts.env.now()) }, status }
      : { kind, apiVersion, metadata: review.metadata, spec: review.spec, status };
  return encodeValue(request, 201, answer, warningHeader(request.warnings));
}

const userInfo = ({ name, uid, groups, extra }: User): object => ({
  username: name,
  ...(uid !== undefined && uid !== "" && { uid }),
  ...(groups.length > 0 && { groups }),
  ...(extra && Object.keys(extra).length > 0 && { extra }),
});

function reviewToken(parts: ServerParts, _request: ApiRequest, { spec }: Review): object {
  const token = spec["token"];
  if (typeof token !== "string" || token === "")
    throw badRequest("token is required for TokenReview in authentication");
  const asked = stringsOf(spec["audiences"]);
  const checked = parts.authenticator.checkToken(token, asked.length > 0 ? asked : [tokenIssuer]);
  if (!checked) return { user: {}, error: "invalid bearer token" };
  return { authenticated: true, user: userInfo(checked.user), audiences: checked.audiences };
}

function reviewLocalAccess(parts: ServerParts, { info }: ApiRequest, { spec }: Review): object {
  const attributes = spec["resourceAttributes"] as { namespace?: string } | undefined;
  if (attributes && (attributes.namespace ?? "") !== info.namespace) {
    refuse([
      invalidField("spec.resourceAttributes.namespace", attributes.namespace ?? "", "must match metadata.namespace"),
    ]);
  }
  return reviewAccess(parts, spec, subjectOf(spec));
}

function reviewAccess(parts: ServerParts, spec: Readonly<Record<string, unknown>>, user: User): object {
  const decision = parts.authorizer.authorize(attributesOf(spec, user));
  return {
    allowed: decision.allowed,
    ...(decision.reason !== "" && { reason: decision.reason }),
  };
}

function attributesOf(spec: Readonly<Record<string, unknown>>, user: User): Attributes {
  const resource = spec["resourceAttributes"] as Readonly<Record<string, string>> | undefined;
  const path = spec["nonResourceAttributes"] as Readonly<Record<string, string>> | undefined;
  if ((resource === undefined) === (path === undefined)) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    refuse([invalidField("spec.resourceAttributes", resource ?? null, detail)]);
  }
  if (path) return { kind: "Path", user, verb: path["verb"] ?? "", path: path["path"] ?? "" };
  return {
    kind: "Resource",
    user,
    verb: resource?.["verb"] ?? "",
    group: resource?.["group"] ?? "",
    resource: resource?.["resource"] ?? "",
    subresource: resource?.["subresource"] ?? "",
    namespace: resource?.["namespace"] ?? "",
    name: resource?.["name"] ?? "",
  };
}

function subjectOf(spec: Readonly<Record<string, unknown>>): User {
  const name = typeof spec["user"] === "string" ? spec["user"] : "";
  const groups = stringsOf(spec["groups"]);
  if (name === "" && groups.length === 0) {
    refuse([invalidField("spec.user", "", "at least one of user or group must be specified")]);
  }
  return { name, groups };
}

function reviewRules(parts: ServerParts, { user }: ApiRequest, { spec }: Review): object {
  const namespace = typeof spec["namespace"] === "string" ? spec["namespace"] : "";
  if (namespace === "") throw badRequest("no namespace on request");
  const errors: string[] = [];
  const rules: PolicyRule[] = [];
  for (const { rule } of parts.authorizer.rulesFor(user, namespace, errors)) rules.push(rule);
  return {
    resourceRules: rules
      .filter(({ resources }) => (resources ?? []).length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames && resourceNames.length > 0 && { resourceNames }),
      })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => (nonResourceURLs ?? []).length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: errors.length > 0,
    ...(errors.length > 0 && { evaluationError: errors.join(", ") }),
  };
}

/** The real server names no kind in these refusals. */
function refuse(errors: readonly FieldError[]): never {
  throw invalid({ group: "authorization.k8s.io", name: "" }, "", errors);
}

const stringsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
