/** Questions to the server: who is this, and may they do that? Created, answered, and never stored. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, boolean, map, optional, string } from "../../kube/schema/build.ts";
import { openObject } from "./open-object.ts";

const authorization = { group: "authorization.k8s.io", version: "v1" } as const;

const resourceAttributes = openObject({
  namespace: optional(string()),
  verb: optional(string()),
  group: optional(string()),
  version: optional(string()),
  resource: optional(string()),
  subresource: optional(string()),
  name: optional(string()),
});
const nonResourceAttributes = openObject({ path: optional(string()), verb: optional(string()) });

const verdict = openObject({
  allowed: boolean(),
  denied: optional(boolean()),
  reason: optional(string()),
  evaluationError: optional(string()),
});

const subjectReviewSpec = openObject({
  user: optional(string()),
  uid: optional(string()),
  groups: optional(array(string())),
  extra: optional(map(array(string()))),
  resourceAttributes: optional(resourceAttributes),
  nonResourceAttributes: optional(nonResourceAttributes),
});

export const SubjectAccessReview = defineKind({
  ...authorization,
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  scope: "Cluster",
  description: "May this user do that?",
  spec: subjectReviewSpec,
  status: verdict,
});
export type SubjectAccessReview = ResourceOf<typeof SubjectAccessReview>;

export const LocalSubjectAccessReview = defineKind({
  ...authorization,
  kind: "LocalSubjectAccessReview",
  plural: "localsubjectaccessreviews",
  description: "May this user do that in this namespace?",
  spec: subjectReviewSpec,
  status: verdict,
});
export type LocalSubjectAccessReview = ResourceOf<typeof LocalSubjectAccessReview>;

export const SelfSubjectAccessReview = defineKind({
  ...authorization,
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  scope: "Cluster",
  description: "May I do that?",
  spec: openObject({
    resourceAttributes: optional(resourceAttributes),
    nonResourceAttributes: optional(nonResourceAttributes),
  }),
  status: verdict,
});
export type SelfSubjectAccessReview = ResourceOf<typeof SelfSubjectAccessReview>;

export const TokenReview = defineKind({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenReview",
  plural: "tokenreviews",
  scope: "Cluster",
  description: "Whose token is this?",
  spec: openObject({ token: optional(string()), audiences: optional(array(string())) }),
  status: openObject({
    authenticated: optional(boolean()),
    user: optional(
      openObject({
        username: optional(string()),
        uid: optional(string()),
        groups: optional(array(string())),
        extra: optional(map(array(string()))),
      }),
    ),
    audiences: optional(array(string())),
    error: optional(string()),
  }),
});
export type TokenReview = ResourceOf<typeof TokenReview>;
