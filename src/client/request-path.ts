import { apiVersionOf, type KindRef } from "../kube/kind.ts";
import type { ObjectKey } from "../kube/object.ts";
import { InvalidRequestError } from "./connection-error.ts";

/**
 * Paths and queries of the Kubernetes API. A name that would change the meaning of a path (an empty one turns a delete
 * into a delete of all) never gets into one.
 */
export function objectPath(kind: KindRef, key: ObjectKey, subresource?: string): string {
  const subject = subjectOf(kind, key);
  const name = segment(subject, "metadata.name", key.name);
  if (kind.namespaced && !key.namespace)
    throw new InvalidRequestError(subject, "metadata.namespace", `Required value: ${kind.kind} is namespaced`);
  return `${collectionPath(kind, key.namespace)}/${name}${subresource ? `/${subresource}` : ""}`;
}

/** Without a namespace the collection is that of all namespaces, which can be read but not written. */
export function collectionPath(kind: KindRef, namespace?: string, write?: "create" | "delete"): string {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  if (!kind.namespaced) {
    if (!namespace) return `${root}/${kind.plural}`;
    throw new InvalidRequestError(
      subjectOf(kind, { namespace }),
      "metadata.namespace",
      `Forbidden: ${kind.kind} is cluster-scoped`,
    );
  }
  if (namespace) {
    const place = segment(subjectOf(kind, { namespace }), "metadata.namespace", namespace);
    return `${root}/namespaces/${place}/${kind.plural}`;
  }
  if (write === undefined) return `${root}/${kind.plural}`;
  throw new InvalidRequestError(
    subjectOf(kind, {}),
    "metadata.namespace",
    `Required value: a ${write} is done in one namespace`,
  );
}

export function query(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  let text = "";
  for (const name in parameters) {
    const value = parameters[name];
    if (value === undefined || value === "") continue;
    text += `${text === "" ? "?" : "&"}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}

export function subjectOf(kind: KindRef, key: { readonly name?: string; readonly namespace?: string }): string {
  const title = kind.group === "" ? kind.kind : `${kind.kind} (${apiVersionOf(kind)})`;
  if (key.name) return `${title} "${key.namespace ? `${key.namespace}/` : ""}${key.name}"`;
  return key.namespace ? `${title} list of namespace "${key.namespace}"` : `${title} list`;
}

function segment(subject: string, field: string, value: unknown): string {
  if (typeof value !== "string" || value === "") throw new InvalidRequestError(subject, field, "Required value");
  if (value === "." || value === ".." || /[/%]/.test(value))
    throw new InvalidRequestError(
      subject,
      field,
      `Invalid value: ${JSON.stringify(value)}: may not be '.' or '..', nor contain '/' or '%'`,
    );
  return encodeURIComponent(value);
}
