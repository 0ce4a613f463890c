import {
  exactFieldValue,
  type FieldRequirement,
  matchesFields,
  parseFieldSelector,
} from "../../kube/field-selector.ts";
import { type LabelRequirement, matchesLabels } from "../../kube/label-selector.ts";
import { parseLabelSelector } from "../../kube/label-selector-parse.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ApiRequest } from "../parts.ts";
import { badRequest } from "../protocol/status-error.ts";
import type { Entry } from "../storage/entry.ts";

/** Which objects of a resource a list, a watch or a deletecollection is about. */
export interface Selection {
  /** Of storage keys: a namespace with its slash, or empty for all. */
  readonly prefix: string;
  /** The only key that can match, when the request names one object. */
  readonly onlyKey?: string;
  /** Undefined when every object of the prefix matches, so that nothing has to be parsed. */
  readonly matches?: (object: KubeObject) => boolean;
}

export function parseSelection({ info, endpoint }: ApiRequest): Selection {
  const { resource } = endpoint;
  const labels = parseLabels(info.query.get("labelSelector"));
  const fields = parseFields(info.query.get("fieldSelector"), endpoint);
  const name = info.name === "" ? exactFieldValue(fields, "metadata.name") : info.name;
  const namespace = info.namespace === "" ? exactFieldValue(fields, "metadata.namespace") : info.namespace;
  const prefix = endpoint.resource.namespaced && namespace ? `${namespace}/` : "";
  const isWhole = labels.length === 0 && fields.length === 0 && info.name === "";
  return {
    prefix,
    ...(name !== undefined && (prefix !== "" || !endpoint.resource.namespaced) && { onlyKey: prefix + name }),
    ...(!isWhole && {
      matches: (object) =>
        (info.name === "" || object.metadata.name === info.name) &&
        matchesLabels(labels, object.metadata.labels) &&
        matchesFields(fields, (field) => resource.fieldValue?.(object, field) ?? fieldValue(object, field)),
    }),
  };
}

export const isSelected = ({ prefix, onlyKey, matches }: Selection, entry: Entry): boolean =>
  (onlyKey === undefined ? entry.key.startsWith(prefix) : entry.key === onlyKey) && (!matches || matches(entry.object));

function parseLabels(text: string | null): readonly LabelRequirement[] {
  if (text === null || text === "") return [];
  const selector = parseLabelSelector(text);
  if (!selector.ok) throw badRequest(selector.message);
  return selector.value;
}

function parseFields(text: string | null, { resource, isCustom }: Endpoint): readonly FieldRequirement[] {
  if (text === null || text === "") return [];
  const selector = parseFieldSelector(text);
  if (!selector.ok) throw badRequest(selector.message);
  for (const { field } of selector.value) {
    if (field === "metadata.name" || field === "metadata.namespace" || resource.selectableFields.includes(field))
      continue;
    // Built-in kinds that declare no field of their own answer in other words.
    throw badRequest(
      resource.selectableFields.length === 0 && !isCustom
        ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
        : (resource.unknownFieldMessage?.(field) ?? `field label not supported: ${field}`),
    );
  }
  return selector.value;
}

/** The value at a dotted path, as text. */
export function fieldValue(object: KubeObject, path: string): string | undefined {
  let value: unknown = object;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value === undefined || value === null ? undefined : String(value);
}
