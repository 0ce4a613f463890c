import { createHash } from "node:crypto";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject, ObjectKey } from "../kube/object.ts";
import { keyText } from "./cache.ts";

/**
 * Remembers what was applied and which version came of it. Applying the same to that very version changes nothing, so
 * the request need not be sent. Forgetting is harmless: it costs one request.
 */
export class UnchangedApplies {
  readonly #applied = new Map<string, { readonly intent: string; readonly uid: string; readonly version: string }>();
  readonly #limit: number;

  constructor(limit = 20_000) {
    this.#limit = limit;
  }

  isUnchanged(kind: KindRef, key: ObjectKey, intent: Intent, current: KubeObject): boolean {
    const last = this.#applied.get(idOf(kind, key, intent));
    if (last === undefined) return false;
    const { uid, resourceVersion } = current.metadata;
    return last.uid === uid && last.version === resourceVersion && last.intent === hashOf(intent);
  }

  remember(kind: KindRef, key: ObjectKey, intent: Intent, result: KubeObject): void {
    const { uid, resourceVersion } = result.metadata;
    if (uid === undefined || resourceVersion === undefined) return;
    const id = idOf(kind, key, intent);
    this.#applied.delete(id);
    this.#applied.set(id, { intent: hashOf(intent), uid, version: resourceVersion });
    if (this.#applied.size <= this.#limit) return;
    for (const oldest of this.#applied.keys()) {
      this.#applied.delete(oldest);
      break;
    }
  }
}

export interface Intent {
  readonly object: unknown;
  readonly fieldManager: string | undefined;
  readonly subresource: string | undefined;
  readonly force: boolean | undefined;
}

const idOf = (kind: KindRef, key: ObjectKey, { subresource = "", fieldManager = "" }: Intent): string =>
  `${kind.group}/${kind.plural}/${subresource}/${fieldManager}/${keyText(key)}`;
const hashOf = (intent: Intent): string => createHash("sha256").update(JSON.stringify(intent)).digest("base64");
