import { Pod } from "../../api/builtin/pod.ts";
import type { ObjectKey } from "../../kube/object.ts";
import type { Read } from "../../runtime/read.ts";
import { podNodeIndex } from "../pod/pod-index.ts";

/**
 * What the scheduler knows before its cache does: pods that were given a node a moment ago count as being there, or two
 * that repel each other would both fit. And who waits for others to come.
 */
export class BoundPods {
  readonly #recent = new Map<string, { readonly pod: Pod; readonly node: string }>();
  readonly #waiting = new Map<string, ObjectKey>();

  add(pod: Pod, node: string): void {
    this.#recent.set(pod.metadata.uid ?? "", { pod, node });
  }

  /** It could not be bound after all. */
  drop({ metadata }: Pod): void {
    this.#recent.delete(metadata.uid ?? "");
  }

  /** The pods of a node, those included that the cache does not know there yet. */
  on(node: string, read: Read): readonly Pod[] {
    const known = read.byIndex(Pod, podNodeIndex, node);
    if (this.#recent.size === 0) return known;
    const more: Pod[] = [];
    for (const [uid, recent] of this.#recent) {
      const cached = read.get(Pod, recent.pod.metadata);
      if (cached?.metadata.uid !== uid || (cached.spec.nodeName ?? "") !== "") this.#recent.delete(uid);
      else if (recent.node === node) more.push(recent.pod);
    }
    return more.length === 0 ? known : [...known, ...more];
  }

  wantNear({ namespace = "", name }: ObjectKey): void {
    this.#waiting.set(`${namespace}/${name}`, { namespace, name });
  }

  forget({ namespace = "", name }: ObjectKey): void {
    this.#waiting.delete(`${namespace}/${name}`);
  }

  wantedNear(): readonly ObjectKey[] {
    return [...this.#waiting.values()];
  }
}
