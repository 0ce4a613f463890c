import { type FieldError, invalid } from "./field-error.ts";
import { apiVersionOf, type KindRef } from "./kind.ts";
import type { KubeObject, OwnerReference } from "./object.ts";

/** Who owns an object: at most one controller, and any number of other owners. */

/** The reference that a controller puts on what it creates; the owner must have been read from the API. */
export function controllerReference(
  kind: Pick<KindRef, "group" | "version" | "kind">,
  owner: KubeObject,
): OwnerReference {
  return { ...ownerReference(kind, owner), controller: true, blockOwnerDeletion: true };
}

export function ownerReference(kind: Pick<KindRef, "group" | "version" | "kind">, owner: KubeObject): OwnerReference {
  const { name, uid } = owner.metadata;
  if (uid === undefined || uid === "") {
    throw new RangeError(`${kind.kind} ${name} has no uid yet, so nothing can refer to it as an owner`);
  }
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid };
}

export type SetOwner =
  | { readonly ok: true; readonly references: readonly OwnerReference[] }
  | { readonly ok: false; readonly reason: "AlreadyControlled"; readonly controller: OwnerReference };

/** Adds or renews a reference. An object that another owner controls is refused: two controllers would fight over it. */
export function setOwnerReference(references: readonly OwnerReference[] | undefined, wanted: OwnerReference): SetOwner {
  const list = references ?? [];
  const controller = list.find((reference) => reference.controller === true);
  if (wanted.controller === true && controller !== undefined && controller.uid !== wanted.uid) {
    return { ok: false, reason: "AlreadyControlled", controller };
  }
  const index = list.findIndex((reference) => reference.uid === wanted.uid);
  if (index < 0) return { ok: true, references: [...list, wanted] };
  return { ok: true, references: isSame(list[index], wanted) ? list : list.with(index, wanted) };
}

export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((reference) => reference.controller === true);

export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean =>
  owner.metadata.uid !== undefined && controllerOf(object)?.uid === owner.metadata.uid;

export const isOwnedBy = (object: KubeObject, owner: KubeObject): boolean =>
  owner.metadata.uid !== undefined &&
  (object.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false);

/** As the server checks them on every write. */
export function validateOwnerReferences(
  references: readonly OwnerReference[] | undefined,
  path = "metadata.ownerReferences",
): readonly FieldError[] {
  const errors: FieldError[] = [];
  let firstController: string | undefined;
  for (const reference of references ?? []) {
    errors.push(...validateReference(reference, path));
    if (reference.controller !== true) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (firstController === undefined) firstController = name;
    else {
      errors.push(
        invalid(
          path,
          references,
          `Only one reference can have Controller set to true. Found "true" in references for ${firstController} and ${name}`,
        ),
      );
    }
  }
  return errors;
}

function validateReference(reference: OwnerReference, path: string): readonly FieldError[] {
  const { apiVersion = "", kind = "", name = "", uid = "" } = reference;
  const errors: FieldError[] = [];
  if (apiVersion === "" || apiVersion.endsWith("/"))
    errors.push(invalid(`${path}.apiVersion`, apiVersion, "version must not be empty"));
  if (kind === "") errors.push(invalid(`${path}.kind`, kind, "must not be empty"));
  if (name === "") errors.push(invalid(`${path}.name`, name, "must not be empty"));
  if (uid === "") errors.push(invalid(`${path}.uid`, uid, "must not be empty"));
  if (apiVersion === "v1" && kind === "Event") {
    errors.push(invalid(path, reference, "/v1, Kind=Event is disallowed from being an owner"));
  }
  return errors;
}

const isSame = (left: OwnerReference | undefined, right: OwnerReference): boolean =>
  left !== undefined &&
  left.apiVersion === right.apiVersion &&
  left.kind === right.kind &&
  left.name === right.name &&
  left.controller === right.controller &&
  left.blockOwnerDeletion === right.blockOwnerDeletion;
