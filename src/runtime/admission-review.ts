import type { JsonPatchOperation } from "../client/client.ts";
import { type Parsed, parsed, refused } from "../kube/parsed.ts";

/** AdmissionReview `admission.k8s.io/v1`, in and out. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly userInfo: { readonly username?: string; readonly uid?: string; readonly groups?: readonly string[] };
  readonly object?: Readonly<Record<string, unknown>>;
  readonly oldObject?: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
}

export type AdmissionDecision =
  | { readonly allowed: true; readonly patch?: readonly JsonPatchOperation[]; readonly warnings?: readonly string[] }
  | {
      readonly allowed: false;
      readonly code: number;
      readonly reason: string;
      readonly message: string;
      readonly warnings?: readonly string[];
    };

export function parseAdmissionReview(value: unknown): Parsed<AdmissionRequest> {
  if (!isRecord(value)) return refused("the AdmissionReview is not an object");
  if (value["kind"] !== "AdmissionReview")
    return refused(`kind: ${JSON.stringify(value["kind"])} is not "AdmissionReview"`);
  if (value["apiVersion"] !== "admission.k8s.io/v1") {
    return refused(`apiVersion: ${JSON.stringify(value["apiVersion"])} is not "admission.k8s.io/v1"`);
  }
  const request = value["request"];
  if (!isRecord(request)) return refused("request: Required value");
  const { uid, operation, object, oldObject } = request;
  if (typeof uid !== "string" || uid === "") return refused("request.uid: Required value");
  if (!isOperation(operation)) return refused(`request.operation: Unsupported value: ${JSON.stringify(operation)}`);
  const kind = groupVersion(request["kind"], "kind");
  const resource = groupVersion(request["resource"], "resource");
  if (kind === undefined) return refused("request.kind: group, version and kind are required");
  if (resource === undefined) return refused("request.resource: group, version and resource are required");
  if (operation !== "DELETE" && operation !== "CONNECT" && !isRecord(object))
    return refused("request.object: Required value");
  if ((operation === "UPDATE" || operation === "DELETE") && !isRecord(oldObject)) {
    return refused("request.oldObject: Required value");
  }
  return parsed({
    uid,
    kind: { group: kind.group, version: kind.version, kind: kind.name },
    resource: { group: resource.group, version: resource.version, resource: resource.name },
    ...text(request, "subResource"),
    ...text(request, "name"),
    ...text(request, "namespace"),
    operation,
    userInfo: isRecord(request["userInfo"]) ? request["userInfo"] : {},
    ...(isRecord(object) && { object }),
    ...(isRecord(oldObject) && { oldObject }),
    dryRun: request["dryRun"] === true,
  });
}

export function responseFor(request: AdmissionRequest, decision: AdmissionDecision): unknown {
  const patch =
    decision.allowed && decision.patch !== undefined && decision.patch.length > 0 ? decision.patch : undefined;
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: {
      uid: request.uid,
      allowed: decision.allowed,
      ...(patch && { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }),
      ...(!decision.allowed && { status: { code: decision.code, reason: decision.reason, message: decision.message } }),
      ...(decision.warnings && decision.warnings.length > 0 && { warnings: decision.warnings }),
    },
  };
}

const isOperation = (value: unknown): value is AdmissionRequest["operation"] =>
  value === "CREATE" || value === "UPDATE" || value === "DELETE" || value === "CONNECT";

function groupVersion(
  value: unknown,
  nameField: string,
): { readonly group: string; readonly version: string; readonly name: string } | undefined {
  if (!isRecord(value)) return undefined;
  const { group = "", version } = value;
  const name = value[nameField];
  if (typeof group !== "string" || typeof version !== "string" || typeof name !== "string") return undefined;
  return { group, version, name };
}

const text = <K extends string>(record: Readonly<Record<string, unknown>>, key: K): { readonly [P in K]?: string } => {
  const value = record[key];
  return (typeof value === "string" && value !== "" ? { [key]: value } : {}) as { readonly [P in K]?: string };
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
