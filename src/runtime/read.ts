import type { KindRef } from "../kube/kind.ts";
import { matchesLabels } from "../kube/label-selector.ts";
import { parseLabelSelector } from "../kube/label-selector-parse.ts";
import type { KubeObject, ObjectKey } from "../kube/object.ts";
import { parsedOrThrow } from "../kube/parsed.ts";
import type { OwnWrites } from "./own-writes.ts";

/** Reads from caches: no waiting, no copies, own writes included. Only kinds that the controller declares can be read. */
export interface Read {
  get<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(kind: KindRef<T>, options?: ReadListOptions): readonly T[];
  /** Objects for which the declared index gives this value. */
  byIndex<T extends KubeObject>(kind: KindRef<T>, index: string, value: string): readonly T[];
  /** Objects that the given one owns, told apart by uid. */
  owned<T extends KubeObject>(kind: KindRef<T>, owner: KubeObject): readonly T[];
}

export interface ReadListOptions {
  readonly namespace?: string;
  /** `app=web,tier in (a,b)` */
  readonly labelSelector?: string;
}

/** The views of one controller, by kind; several where a kind is cached per namespace. */
export type Views = (kind: KindRef) => readonly OwnWrites<KubeObject>[];

export function createRead(views: Views): Read {
  const viewsOf = <T extends KubeObject>(kind: KindRef<T>): readonly OwnWrites<T>[] =>
    // The views were made for this kind, so their objects are of its type.
    views(kind) as readonly unknown[] as readonly OwnWrites<T>[];
  return {
    get(kind, key) {
      for (const view of viewsOf(kind)) {
        const object = view.get(key);
        if (object !== undefined) return object;
      }
      return undefined;
    },
    list(kind, options = {}) {
      const objects = viewsOf(kind).flatMap((view) => view.list(options.namespace));
      if (options.labelSelector === undefined) return objects;
      const selector = parsedOrThrow(parseLabelSelector(options.labelSelector));
      return objects.filter((object) => matchesLabels(selector, object.metadata.labels));
    },
    byIndex: (kind, index, value) => viewsOf(kind).flatMap((view) => view.byIndex(index, value)),
    owned: (kind, owner) => {
      const { uid } = owner.metadata;
      return uid === undefined ? [] : viewsOf(kind).flatMap((view) => view.byIndex(ownerIndex, uid));
    },
  };
}

/** Every cache has this index. */
export const ownerIndex = "capstan.dev/owner";
export const ownerUids = (object: KubeObject): readonly string[] =>
  object.metadata.ownerReferences?.map(({ uid }) => uid) ?? [];
