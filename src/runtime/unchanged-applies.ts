import type { KindRef } from "../kube/kind.ts";
import type { KubeObject, ObjectKey } from "../kube/object.ts";
import { BoundedMap } from "./bounded-map.ts";
import { keyText } from "./cache.ts";
import { digestOf } from "./digest.ts";

/**
 * Remembers what was applied and which version came of it. Applying the same to that very version changes nothing, so
 * the request need not be sent. Forgetting is harmless: it costs one request.
 */
export class UnchangedApplies {
  /** Digests, since there may be many thousands of them. */
  readonly #applied: BoundedMap<{ readonly intent: string; readonly version: string }>;

  constructor(limit = 20_000) {
    this.#applied = new BoundedMap(limit);
  }

  isUnchanged(kind: KindRef, key: ObjectKey, intent: Intent, current: KubeObject): boolean {
    const last = this.#applied.get(idOf(kind, key, intent));
    if (last === undefined) return false;
    const { uid, resourceVersion } = current.metadata;
    return uid !== undefined && last.version === resourceVersion && last.intent === digestOfIntent(uid, intent);
  }

  remember(kind: KindRef, key: ObjectKey, intent: Intent, result: KubeObject): void {
    const { uid, resourceVersion } = result.metadata;
    if (uid === undefined || resourceVersion === undefined) return;
    this.#applied.set(idOf(kind, key, intent), { intent: digestOfIntent(uid, intent), version: resourceVersion });
  }
}

export interface Intent {
  readonly object: unknown;
  readonly fieldManager: string | undefined;
  readonly subresource: string | undefined;
  readonly force: boolean | undefined;
}

const idOf = (kind: KindRef, key: ObjectKey, { subresource = "", fieldManager = "" }: Intent): string =>
  digestOf(`${kind.group}/${kind.plural}/${subresource}/${fieldManager}/${keyText(key)}`);
const digestOfIntent = (uid: string, intent: Intent): string => digestOf(`${uid}\0${JSON.stringify(intent)}`);
