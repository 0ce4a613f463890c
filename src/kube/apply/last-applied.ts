/**
 * The annotation of client-side apply. When kubectl changes over to server-side apply, fields that still have the value it
 * applied last are its own and no conflict; afterwards the annotation follows what it applies.
 */
import { goJson, utf8Length } from "../go-text.ts";
import { compareTyped } from "./compare.ts";
import type { Type } from "./compile.ts";
import { difference, type FieldSet, union } from "./field-set.ts";
import { isMap, type JsonMap } from "./json-value.ts";
import { toFieldSet } from "./to-field-set.ts";
import { validateTyped } from "./validate.ts";

export const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/** Only the manager of this name is changed over; anyone may choose another name to opt out. */
export const changeoverManager = "kubectl";

const annotationsMaxBytes = 256 * 1024;

/** The fields that were applied last and have not changed since, or undefined when the annotation does not tell. */
export function unchangedSinceLastApplied(live: JsonMap, type: Type, apiVersion: string): FieldSet | undefined {
  const text = annotationOf(live);
  if (text === undefined) return undefined;
  const value = parse(text);
  if (!isMap(value) || value["apiVersion"] !== apiVersion) return undefined;
  const applied = { type, value };
  const liveTyped = { type, value: live };
  if (validateTyped(applied, "refused").length > 0 || validateTyped(liveTyped, "refused").length > 0) return undefined;
  const { added, modified, removed } = compareTyped(applied, liveTyped);
  return difference(toFieldSet(applied), union(union(modified, added), removed));
}

/** The object with its annotation, if it has one, telling what was applied now. */
export function withLastApplied(object: JsonMap, applied: JsonMap): JsonMap {
  if (annotationOf(object) === undefined) return object;
  const metadata = isMap(object["metadata"]) ? object["metadata"] : {};
  const { [lastAppliedAnnotation]: _replaced, ...others } = annotationsOf(object);
  const text = `${goJson(withoutAnnotation(applied))}\n`;
  const annotations = { ...others, [lastAppliedAnnotation]: text };
  // Too long to be kept: without the annotation the object stays valid.
  const kept = sizeOfAnnotations(annotations) > annotationsMaxBytes ? others : annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}

function withoutAnnotation(object: JsonMap): JsonMap {
  const annotations = annotationsOf(object);
  if (!Object.hasOwn(annotations, lastAppliedAnnotation)) return object;
  const { [lastAppliedAnnotation]: _own, ...others } = annotations;
  const metadata = isMap(object["metadata"]) ? object["metadata"] : {};
  return { ...object, metadata: { ...metadata, annotations: others } };
}

function annotationsOf(object: JsonMap): JsonMap {
  const metadata = object["metadata"];
  const annotations = isMap(metadata) ? metadata["annotations"] : undefined;
  return isMap(annotations) ? annotations : {};
}

function annotationOf(object: JsonMap): string | undefined {
  const text = annotationsOf(object)[lastAppliedAnnotation];
  return typeof text === "string" && text !== "" ? text : undefined;
}

const sizeOfAnnotations = (annotations: JsonMap): number =>
  Object.entries(annotations).reduce((sum, [name, value]) => sum + utf8Length(name) + utf8Length(String(value)), 0);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
