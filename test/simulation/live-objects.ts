import type { KubeObject } from "../../src/kube/object.ts";
import type { Write } from "./journal.ts";
import type { Look } from "./story.ts";

/** The objects as the API has them, kept up to date from the journal, so that a property may look at every write. */
export class LiveObjects implements Look {
  readonly #byResource = new Map<string, Map<string, KubeObject>>();

  get(resource: string, namespace: string, name: string): KubeObject | undefined {
    return this.#of(resource).get(`${namespace}/${name}`);
  }

  all(resource: string): readonly KubeObject[] {
    return [...this.#of(resource).values()];
  }

  apply(write: Write): void {
    const key = `${write.namespace}/${write.name}`;
    if (isGone(write)) this.#of(write.resource).delete(key);
    else if (write.answer.metadata?.uid !== undefined) this.#of(write.resource).set(key, write.answer);
  }

  #of(resource: string): Map<string, KubeObject> {
    const known = this.#byResource.get(resource) ?? new Map<string, KubeObject>();
    this.#byResource.set(resource, known);
    return known;
  }
}

/** Deleted at once, or released by the last finalizer; a pod that is given time to end is still there. */
function isGone({ method, answer, body }: Write): boolean {
  const { metadata, kind } = answer;
  if (kind === "Status") return method === "DELETE";
  // A removed Service is answered as it was, without a word about its end.
  if (method === "DELETE" && metadata?.deletionTimestamp === undefined) return true;
  if (metadata?.deletionTimestamp === undefined || metadata.finalizers?.length) return false;
  return kind !== "Pod" || (body as { readonly gracePeriodSeconds?: number }).gracePeriodSeconds === 0;
}
