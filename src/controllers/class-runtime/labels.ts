import { ClassRuntime } from "../../api/class-runtime.ts";
import { labels } from "../../api/well-known.ts";
import { safeLabelValue } from "../../kube/names.ts";
import type { ObjectMeta, OwnerReference } from "../../kube/object.ts";
import { ownerReference } from "../../kube/owner-reference.ts";

/** By which a child is found again: the label says whose it is by name, the owner reference by uid. */
export const controllerName = "class-runtime";

export const ownerLabel = (className: string): string => safeLabelValue(className);

export const ownLabels = (className: string, app: string): Readonly<Record<string, string>> => ({
  app,
  [labels.classOwner]: ownerLabel(className),
});

/** On objects, not on pods: a Deployment's selector and pod labels stay upstream's, so that it can be taken over. */
export const objectLabels = (classRuntime: ClassRuntime, app: string): Readonly<Record<string, string>> => {
  const key = classRuntime.spec.package_class_key;
  return {
    ...ownLabels(classRuntime.metadata.name, app),
    ...(key ? { [labels.classKey]: safeLabelValue(key) } : {}),
    [labels.controller]: controllerName,
  };
};

/** Like upstream's: it controls, and does not block the owner's deletion, which has a finalizer for that. */
export const ownedBy = (classRuntime: ClassRuntime): OwnerReference => ({
  ...ownerReference(ClassRuntime, classRuntime),
  controller: true,
});

export function childMetadata(
  classRuntime: ClassRuntime,
  name: string,
  annotations?: Readonly<Record<string, string>>,
): Partial<ObjectMeta> & { readonly name: string } {
  const { namespace } = classRuntime.metadata;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: objectLabels(classRuntime, name),
    ...(annotations && { annotations }),
    ownerReferences: [ownedBy(classRuntime)],
  };
}
