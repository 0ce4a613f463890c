import type {
  ApplyObject,
  ApplyOptions,
  Client,
  DeleteOptions,
  NewObject,
  Patch,
  Scale,
  WriteOptions,
} from "../client/client.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject, ObjectKey, Status } from "../kube/object.ts";
import type { OwnWrites } from "./own-writes.ts";
import type { Permission, Verb } from "./permission.ts";
import { type Refusal, refusalOf } from "./refusal.ts";
import type { UnchangedApplies } from "./unchanged-applies.ts";

/**
 * What `act` writes with. A refusal by the server is a value with a reason; a fault is thrown. Every write is done under
 * the controller's field manager, is seen by its later reads at once, and is refused when the reconcile was cancelled.
 */
export interface Write {
  create<T extends KubeObject>(kind: KindRef<T>, object: NewObject<T>, options?: WriteOptions): Promise<Written<T>>;
  /** Not sent when the same was applied before and nobody has touched the object since. */
  apply<T extends KubeObject>(kind: KindRef<T>, object: ApplyObject<T>, options?: ApplyOptions): Promise<Written<T>>;
  update<T extends KubeObject>(kind: KindRef<T>, object: T, options?: WriteOptions): Promise<Written<T>>;
  patch<T extends KubeObject>(
    kind: KindRef<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<Written<T>>;
  /** Given an object, deletes only that one (by uid), never a namesake that came later. Gone already is fine. */
  delete<T extends KubeObject>(kind: KindRef<T>, target: ObjectKey | T, options?: DeleteOptions): Promise<Deleted<T>>;
  setScale(kind: KindRef, key: ObjectKey, replicas: number, options?: WriteOptions): Promise<Written<Scale>>;
  evict(pod: ObjectKey, options?: DeleteOptions): Promise<Evicted>;
}

export type Written<T> = { readonly ok: true; readonly object: T } | Refused;
export type Evicted = { readonly ok: true } | Refused;
/** `object` is there while finalizers or a grace period hold it. */
export type Deleted<T> = { readonly ok: true; readonly gone: boolean; readonly object?: T } | Refused;
export interface Refused extends Refusal {
  readonly ok: false;
}

export interface WriterOptions {
  readonly client: Client;
  readonly fieldManager: string;
  readonly signal: AbortSignal;
  /** Throws when this process may not write any more, even if nobody has told it yet. */
  readonly fence: () => void;
  /** The controller's view of the cache that would hold the object, if it has one. */
  readonly viewOf: (kind: KindRef, key: ObjectKey) => OwnWrites<KubeObject> | undefined;
  readonly applies: UnchangedApplies;
  readonly used: (permission: Permission) => void;
  /** Wraps each request, for tracing. */
  readonly around: <R>(verb: Verb, kind: KindRef, key: ObjectKey | undefined, request: () => Promise<R>) => Promise<R>;
}

export function createWrite(options: WriterOptions): Write {
  const { client, signal, fieldManager, applies } = options;

  const send = async <T extends KubeObject>(
    verb: Verb,
    kind: KindRef<T>,
    key: ObjectKey | undefined,
    subresource: string | undefined,
    request: () => Promise<T>,
  ): Promise<Written<T>> => {
    const view = key === undefined ? undefined : options.viewOf(kind, key);
    const seen = key === undefined ? undefined : view?.get(key);
    const answered = await attempt(verb, kind, key, subresource, view, async () => {
      const object = await request();
      (view ?? options.viewOf(kind, object.metadata))?.written(object, seen);
      return object;
    });
    return answered.ok ? { ok: true, object: answered.value } : answered;
  };

  const attempt = async <R>(
    verb: Verb,
    kind: KindRef,
    key: ObjectKey | undefined,
    subresource: string | undefined,
    view: OwnWrites<KubeObject> | undefined,
    request: () => Promise<R>,
  ): Promise<{ readonly ok: true; readonly value: R } | Refused> => {
    signal.throwIfAborted();
    options.fence();
    options.used({
      group: kind.group,
      resource: subresource ? `${kind.plural}/${subresource}` : kind.plural,
      verbs: [verb],
    });
    const inWindow = (): Promise<R> => (view === undefined ? request() : view.during(key, request));
    try {
      return { ok: true, value: await options.around(verb, kind, key, inWindow) };
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined) throw error;
      return { ok: false, ...refusal };
    }
  };

  const common = <O extends WriteOptions>(own: O | undefined): O & WriteOptions =>
    ({ fieldManager, ...own, signal: own?.signal ? AbortSignal.any([signal, own.signal]) : signal }) as O &
      WriteOptions;

  return {
    create: (kind, object, own) => {
      const { name, namespace } = object.metadata;
      const key = name === undefined ? undefined : keyOf(name, namespace);
      return send("create", kind, key, own?.subresource, () => client.create(kind, object, common(own)));
    },
    async apply(kind, object, own) {
      const key = keyOf(object.metadata.name, object.metadata.namespace);
      const view = options.viewOf(kind, key);
      const current = view?.get(key);
      const settings = common(own);
      const intent = {
        object,
        force: settings.force,
        subresource: settings.subresource,
        fieldManager: settings.fieldManager,
      };
      if (current !== undefined && !settings.dryRun && applies.isUnchanged(kind, key, intent, current)) {
        return { ok: true, object: current as typeof current & NonNullable<(typeof kind)["type"]> };
      }
      const applied = await send("patch", kind, key, own?.subresource, () => client.apply(kind, object, settings));
      if (applied.ok && view !== undefined && !settings.dryRun) applies.remember(kind, key, intent, applied.object);
      return applied;
    },
    update: (kind, object, own) =>
      send("update", kind, object.metadata, own?.subresource, () => client.update(kind, object, common(own))),
    patch: (kind, key, patch, own) =>
      send("patch", kind, key, own?.subresource, () => client.patch(kind, key, patch, common(own))),
    async delete(kind, target, own) {
      const { key, uid } = deletionTarget(target);
      const preconditions = own?.preconditions ?? (uid === undefined ? undefined : { uid });
      const view = options.viewOf(kind, key);
      const answered = await attempt("delete", kind, key, undefined, view, async () => {
        const answer = await client.delete(kind, key, { ...own, signal, ...(preconditions && { preconditions }) });
        if (isStatus(answer)) view?.deleted(key, preconditions?.uid);
        else view?.written(answer, view.get(key));
        return answer;
      });
      if (!answered.ok) return answered.reason === "NotFound" ? { ok: true, gone: true } : answered;
      return isStatus(answered.value) ? { ok: true, gone: true } : { ok: true, gone: false, object: answered.value };
    },
    async setScale(kind, key, replicas, own) {
      const request = (): Promise<Scale> => client.setScale(kind, key, replicas, common(own));
      const answered = await attempt("patch", kind, key, "scale", undefined, request);
      return answered.ok ? { ok: true, object: answered.value } : answered;
    },
    async evict(pod, own) {
      const request = (): Promise<void> => client.evict(pod, { ...own, signal });
      const answered = await attempt("create", podKind, pod, "eviction", undefined, request);
      return answered.ok ? { ok: true } : answered;
    },
  };
}

const podKind: KindRef = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

const keyOf = (name: string, namespace: string | undefined): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };

const isStatus = (answer: KubeObject | Status): answer is Status =>
  answer.kind === "Status" && !("uid" in answer.metadata);

function deletionTarget(target: ObjectKey | KubeObject): { readonly key: ObjectKey; readonly uid?: string } {
  if (!("metadata" in target)) return { key: target };
  const { name, namespace, uid } = target.metadata;
  return { key: keyOf(name, namespace), ...(uid !== undefined && { uid }) };
}
