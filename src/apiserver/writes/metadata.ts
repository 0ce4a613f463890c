import type { Env } from "../../env/env.ts";
import type { KubeObject, ObjectMeta } from "../../kube/object.ts";
import type { Endpoint } from "../endpoint.ts";
import { badRequest, StatusError } from "../protocol/status-error.ts";

/** The parts of metadata that belong to the server. */
export function stampNew(env: Env, endpoint: Endpoint, namespace: string, object: KubeObject): KubeObject {
  const { resourceVersion, ...given } = object.metadata;
  if (resourceVersion !== undefined && resourceVersion !== "") {
    throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
  }
  const {
    deletionTimestamp: _gone,
    deletionGracePeriodSeconds: _grace,
    selfLink: _link,
    ...kept
  } = given as ObjectMeta & {
    selfLink?: unknown;
  };
  const metadata: ObjectMeta = {
    ...kept,
    name: kept.name || generatedName(env, kept.generateName),
    ...(endpoint.resource.namespaced && { namespace: checkedNamespace(kept.namespace, namespace) }),
    uid: env.uuid(),
    creationTimestamp: timestamp(env.now()),
  };
  return { ...object, metadata };
}

/** What a writer of an existing object may leave out or cannot change. */
export function stampUpdated(object: KubeObject, old: KubeObject): KubeObject {
  const { metadata: before } = old;
  const metadata: Record<string, unknown> = { ...object.metadata };
  for (const field of kept) {
    if (metadata[field] === undefined || metadata[field] === null || metadata[field] === "") {
      if (before[field] === undefined) delete metadata[field];
      else metadata[field] = before[field];
    }
  }
  // These are never the writer's to say, whatever the body says.
  for (const field of owned) {
    if (before[field] === undefined) delete metadata[field];
    else metadata[field] = before[field];
  }
  return { ...object, metadata: metadata as unknown as ObjectMeta };
}

const kept = ["uid", "namespace", "name", "creationTimestamp"] as const;
const owned = ["generation", "deletionTimestamp", "deletionGracePeriodSeconds", "creationTimestamp"] as const;

export function checkedNamespace(given: string | undefined, requested: string): string {
  if (given === undefined || given === "" || given === requested) return requested;
  throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** Whole seconds, as the API writes times. */
export const timestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

const suffixLength = 5;
const maxBaseLength = 63 - suffixLength;
/** No vowels and no digits that look like letters, so that no name is a word. */
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

function generatedName(env: Env, base: string | undefined): string {
  if (base === undefined || base === "") return "";
  let suffix = "";
  for (let i = 0; i < suffixLength; i++) suffix += suffixAlphabet[Math.floor(env.random() * suffixAlphabet.length)];
  return base.slice(0, maxBaseLength) + suffix;
}
