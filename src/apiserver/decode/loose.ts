import type { ApiRequest, ServerParts } from "../parts.ts";
import { decodeBody, mediaTypeOf } from "./body.ts";
import { checkedLoose, type ExpectedType, type Members, unrecognized } from "./type-meta.ts";

/** The bodies of sub-resource requests, whose kind is another one than the resource's. */
export const looseTypes = {
  Binding: { group: "", apiVersion: "v1", kind: "Binding" },
  Eviction: { group: "policy", apiVersion: "policy/v1", kind: "Eviction" },
  Scale: { group: "autoscaling", apiVersion: "autoscaling/v1", kind: "Scale" },
  TokenRequest: { group: "authentication.k8s.io", apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" },
} as const satisfies Readonly<Record<string, ExpectedType>>;

export function decodeLoose(
  parts: ServerParts,
  { http }: ApiRequest,
  kind: keyof typeof looseTypes,
): { readonly value: Members } {
  const contentType = http.headers["content-type"];
  const bytes = http.body ?? new Uint8Array();
  const expected = looseTypes[kind];
  const body =
    mediaTypeOf(contentType) === "application/vnd.kubernetes.protobuf"
      ? parts.decodeProtobuf(bytes, expected)
      : decodeBody(bytes, contentType);
  if ("kind" in body) throw unrecognized(kind, body.why, () => bytes);
  return { value: checkedLoose(expected, body.value, () => bytes) };
}
