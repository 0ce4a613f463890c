import { type FieldError, invalid, notSupported } from "../../kube/field-error.ts";
import { decodeBuiltin } from "../builtin/index.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { isTrue } from "../protocol/request-info.ts";
import { badRequest, invalid as invalidObject } from "../protocol/status-error.ts";
import type { PropagationPolicy } from "../writes/deletion.ts";
import { decodeBody, mediaTypeOf } from "./body.ts";
import { notRegistered, typeProblem } from "./type-meta.ts";

/** What a delete may say, in its body or in its query. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: PropagationPolicy;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
  readonly given: Readonly<Record<string, unknown>>;
}

export function parseDeleteOptions(parts: ServerParts, request: ApiRequest): DeleteOptions {
  const given = readGiven(parts, request);
  const dryRun = stringsOf(given["dryRun"]);
  const policy = given["propagationPolicy"] as PropagationPolicy | undefined;
  const orphan = given["orphanDependents"] as boolean | undefined;
  const errors: FieldError[] = [];
  if (orphan !== undefined && policy !== undefined) {
    errors.push(invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (policy !== undefined && !policies.has(policy)) {
    errors.push(notSupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]));
  }
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported("dryRun", dryRun, ["All"]));
  if (errors.length > 0) throw invalidObject({ group: "meta.k8s.io", name: "DeleteOptions" }, "", errors);
  const period = given["gracePeriodSeconds"];
  const asked = policy ?? (orphan === undefined ? undefined : orphan ? "Orphan" : "Background");
  return {
    dryRun: dryRun.length > 0,
    ...(typeof period === "number" && { gracePeriodSeconds: period }),
    ...(asked && { propagationPolicy: asked }),
    preconditions: (given["preconditions"] as DeleteOptions["preconditions"] | undefined) ?? {},
    given,
  };
}

const policies: ReadonlySet<string> = new Set(["Foreground", "Background", "Orphan"]);

function readGiven(parts: ServerParts, { http, info }: ApiRequest): Readonly<Record<string, unknown>> {
  if (http.body === undefined || http.body.length === 0) return fromQuery(info.query);
  const contentType = http.headers["content-type"];
  const body =
    mediaTypeOf(contentType) === "application/vnd.kubernetes.protobuf"
      ? parts.decodeProtobuf(http.body, { apiVersion: "v1", kind: "DeleteOptions" })
      : decodeBody(http.body, contentType);
  if ("kind" in body) throw badRequest(body.why);
  const value = body.value ?? {};
  const problem = typeProblem(value);
  if (problem !== undefined) throw badRequest(problem);
  const { kind = "", apiVersion = "", ...given } = value as Record<string, unknown>;
  if (kind !== "" && kind !== "DeleteOptions") throw badRequest(notRegistered(String(apiVersion), String(kind)));
  const decoded = decodeBuiltin("v1", "DeleteOptions", given);
  if (decoded?.kind === "Refused") throw badRequest(decoded.message.replace(/^.* cannot be handled as a \S+: /, ""));
  return Object.fromEntries(Object.entries(given).filter(([, member]) => member !== null && member !== undefined));
}

function fromQuery(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const period = query.get("gracePeriodSeconds");
  if (period !== null && !/^-?\d+$/.test(period)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(period)}: invalid syntax`);
  }
  return {
    ...(query.has("dryRun") && { dryRun: query.getAll("dryRun") }),
    ...(period !== null && { gracePeriodSeconds: Number(period) }),
    ...(query.has("propagationPolicy") && { propagationPolicy: query.get("propagationPolicy") }),
    ...(query.has("orphanDependents") && { orphanDependents: isTrue(query.get("orphanDependents")) }),
  };
}

const stringsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
