import { invalid as invalidField } from "../../kube/field-error.ts";
import type { KubeObject } from "../../kube/object.ts";
import { type BoundObject, issueToken, tokenIssuer } from "../auth/service-account-tokens.ts";
import { decodeLoose } from "../decode/loose.ts";
import { encodeValue } from "../encode/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { badRequest, conflict, invalid, notFound } from "../protocol/status-error.ts";
import { storageKey } from "../storage/entry.ts";
import { findObject } from "../verbs/get.ts";
import { timestamp } from "../writes/metadata.ts";

interface TokenRequestSpec {
  readonly audiences?: readonly string[];
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: {
    readonly kind?: string;
    readonly apiVersion?: string;
    readonly name?: string;
    readonly uid?: string;
  } | null;
}

const minSeconds = 600;
const maxSeconds = 2 ** 32;
const defaultSeconds = 3600;

/** POST serviceaccounts/NAME/token: a short-lived token for the account. */
export async function createToken(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const { value } = decodeLoose(parts, request, "TokenRequest");
  const spec = (value["spec"] ?? {}) as TokenRequestSpec;
  const account = findObject(parts, request).object;
  await parts.admission.validate({
    request,
    endpoint: request.endpoint,
    operation: "CREATE",
    subresource: "token",
    namespace: request.info.namespace,
    name: request.info.name,
    object: { metadata: {}, ...value } as unknown as KubeObject,
    dryRun: request.info.query.get("dryRun") === "All",
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  });
  const expirationSeconds = spec.expirationSeconds ?? defaultSeconds;
  checkDuration(expirationSeconds);
  const audiences = spec.audiences && spec.audiences.length > 0 ? spec.audiences : [tokenIssuer];
  const found = spec.boundObjectRef ? boundObject(parts, request, spec.boundObjectRef) : undefined;
  const now = parts.env.now();
  const token = issueToken(parts.env, parts.tokenSigner, {
    account,
    audiences,
    expirationSeconds,
    ...(found && { bound: found.bound, ...(found.node && { node: found.node }) }),
  });
  const { name, namespace, uid } = account.metadata;
  return encodeValue(request, 201, {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, uid, creationTimestamp: timestamp(now) },
    spec: { audiences, expirationSeconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: timestamp(new Date(now.getTime() + expirationSeconds * 1000)) },
  });
}

function checkDuration(seconds: number): void {
  const detail =
    seconds < minSeconds
      ? "may not specify a duration less than 10 minutes"
      : seconds > maxSeconds
        ? "may not specify a duration larger than 2^32 seconds"
        : undefined;
  if (detail === undefined) return;
  const kind = { group: "authentication.k8s.io", name: "TokenRequest" };
  throw invalid(kind, "", [invalidField("spec.expirationSeconds", seconds, detail)]);
}

const bindable: Readonly<Record<string, { readonly plural: string; readonly namespaced: boolean }>> = {
  Pod: { plural: "pods", namespaced: true },
  Secret: { plural: "secrets", namespaced: true },
  Node: { plural: "nodes", namespaced: false },
};

function boundObject(
  { store }: ServerParts,
  { info }: ApiRequest,
  reference: NonNullable<TokenRequestSpec["boundObjectRef"]>,
): { readonly bound: BoundObject; readonly node?: { readonly name: string; readonly uid?: string } } {
  const { kind = "", apiVersion = "", name = "", uid } = reference;
  const target = apiVersion === "v1" ? bindable[kind] : undefined;
  if (!target) throw badRequest(`cannot bind token to object of type /${apiVersion}, Kind=${kind}`);
  const found = store.get(target.plural, storageKey(target.namespaced ? info.namespace : undefined, name))?.object;
  if (!found) throw notFound({ group: "", name: target.plural }, name);
  if (uid !== undefined && uid !== "" && uid !== found.metadata.uid) {
    throw conflict(
      { group: "", name: target.plural },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  const bound = { kind: kind as BoundObject["kind"], name, uid: found.metadata.uid ?? "" };
  const nodeName = kind === "Pod" ? (found as KubeObject & { spec?: { nodeName?: string } }).spec?.nodeName : undefined;
  if (!nodeName) return { bound };
  const nodeUid = store.get("nodes", nodeName)?.object.metadata.uid;
  return { bound, node: { name: nodeName, ...(nodeUid !== undefined && { uid: nodeUid }) } };
}
