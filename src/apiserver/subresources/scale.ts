import { invalid as invalidField } from "../../kube/field-error.ts";
import { findFirst, parseJsonPath } from "../../kube/json-path.ts";
import { apiVersionOf } from "../../kube/kind.ts";
import { formatLabelSelector, type LabelSelector, labelSelectorRequirements } from "../../kube/label-selector.ts";
import type { KubeObject } from "../../kube/object.ts";
import { ageColumn, column, nameColumn } from "../builtin/columns.ts";
import { child, type Draft, numeral } from "../builtin/draft.ts";
import { decodeLoose } from "../decode/loose.ts";
import { parseWriteOptions, type WriteOptions } from "../decode/write-options.ts";
import { encodeValue } from "../encode/object.ts";
import { tableOf } from "../encode/table.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { type Answer, warningHeader } from "../protocol/respond.ts";
import { badRequest, conflict, invalid, modifiedMeanwhile } from "../protocol/status-error.ts";
import { findObject } from "../verbs/get.ts";
import { managerOf } from "../writes/managers.ts";
import { updateObject } from "../writes/update.ts";

/** How many replicas an object wants and has, in the one shape that autoscalers know. */
export type Scale = KubeObject & {
  readonly spec: { readonly replicas?: number };
  readonly status: { readonly replicas: number; readonly selector?: string };
};

export function getScale(parts: ServerParts, request: ApiRequest): Answer {
  const { form, endpoint, info } = request;
  const scale = scaleOf(request, endpoint.view(findObject(parts, request)).object);
  if (form.kind !== "Table") return encodeValue(request, 200, scale);
  const table = tableOf({ columns }, form.version, [scale], {
    metadata: { resourceVersion: scale.metadata.resourceVersion ?? "" },
    now: parts.env.now(),
    includeObject: info.query.get("includeObject"),
  });
  return encodeValue(request, 200, table);
}

const columns = [
  nameColumn,
  column("Desired", (scale: Draft) => numeral(child(scale, "spec"), "replicas") ?? 0, { type: "integer" }),
  column("Available", (scale: Draft) => numeral(child(scale, "status"), "replicas") ?? 0, { type: "integer" }),
  ageColumn,
];

export async function updateScale(parts: ServerParts, request: ApiRequest): Promise<Answer> {
  const options = parseWriteOptions(request, "UpdateOptions");
  const scale = decodeLoose(parts, request, "Scale").value as Partial<Scale>;
  return writeScale(parts, request, options, "UpdateOptions", () => scale);
}

/** Changes the wanted replicas of the object behind a Scale. */
export async function writeScale(
  parts: ServerParts,
  request: ApiRequest,
  options: WriteOptions,
  optionsKind: "UpdateOptions" | "PatchOptions",
  wanted: (current: Scale) => Partial<Scale>,
): Promise<Answer> {
  const { endpoint, info } = request;
  const entry = await updateObject(parts, request, {
    options,
    optionsKind,
    managed: managerOf(parts, request, options).updated,
    wanted(object) {
      const scale = wanted(scaleOf(request, object));
      const { name, resourceVersion } = scale.metadata ?? {};
      if (name !== undefined && name !== "" && name !== info.name) {
        throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
      }
      if (resourceVersion && resourceVersion !== object.metadata.resourceVersion) {
        throw conflict(endpoint.resourceName, info.name, modifiedMeanwhile);
      }
      return withReplicas(request, object, checkedReplicas(scale, info.name));
    },
  });
  return encodeValue(request, 200, scaleOf(request, endpoint.view(entry).object), warningHeader(request.warnings));
}

function checkedReplicas({ spec }: Partial<Scale>, name: string): number {
  const replicas = spec?.replicas ?? 0;
  if (Number.isInteger(replicas) && replicas >= 0) return replicas;
  const error = invalidField("spec.replicas", replicas, "must be greater than or equal to 0");
  throw invalid({ group: "autoscaling", name: "Scale" }, name, [error]);
}

export function scaleOf({ endpoint }: ApiRequest, object: KubeObject): Scale {
  const { scale } = endpoint.resource;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selectorPath = endpoint.isCustom ? scale?.labelSelectorPath : ".spec.selector";
  const selector = selectorText(at(selectorPath, object));
  return {
    kind: "Scale",
    apiVersion: apiVersionOf(endpoint.subresource("scale") ?? { group: "autoscaling", version: "v1" }),
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
    },
    spec: { ...numberMember("replicas", at(scale?.specReplicasPath, object)) },
    status: { replicas: Number(at(scale?.statusReplicasPath, object) ?? 0), ...(selector !== "" && { selector }) },
  };
}

const numberMember = (name: string, value: unknown): object =>
  typeof value === "number" && value !== 0 ? { [name]: value } : {};

function at(path: string | undefined, object: KubeObject): unknown {
  const parsed = path === undefined ? undefined : parseJsonPath(path);
  return parsed?.ok ? findFirst(parsed.value, object) : undefined;
}

/** Built-in kinds have a selector object or plain labels, custom ones a text. */
function selectorText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const isLabels = Object.values(value).every((one) => typeof one === "string");
  const requirements = labelSelectorRequirements((isLabels ? { matchLabels: value } : value) as LabelSelector);
  return requirements.ok ? formatLabelSelector(requirements.value) : "";
}

function withReplicas({ endpoint }: ApiRequest, object: KubeObject, replicas: number): KubeObject {
  const steps = (endpoint.resource.scale?.specReplicasPath ?? ".spec.replicas")
    .split(".")
    .filter((step) => step !== "");
  return setAt(object, steps, replicas) as KubeObject;
}

function setAt(value: unknown, [step, ...rest]: readonly string[], leaf: unknown): unknown {
  if (step === undefined) return leaf;
  const members = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  return { ...members, [step]: setAt(members[step], rest, leaf) };
}
