import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { deepEqual } from "../kube/equality.ts";
import { apiVersionOf } from "../kube/kind.ts";
import type { KubeObject, ObjectMeta } from "../kube/object.ts";
import { formatTime } from "../kube/time.ts";
import { alreadyExists, bodyOf, conflict, json, notFound, objectModified, Refusal } from "./memory-answers.ts";
import type { ApiContext, Target } from "./memory-api.ts";
import { applyTo } from "./memory-apply.ts";
import { jsonPatched, mergePatched } from "./memory-patch.ts";
import { resourceOf, storeKey } from "./memory-store.ts";

export function createAnswer(request: HttpRequest, target: Target, context: ApiContext): HttpResponse {
  const object = bodyOf(request) as unknown as Loose;
  const metadata = object.metadata ?? {};
  const name = metadata.name || `${metadata.generateName ?? ""}${context.env.uuid().slice(0, 5)}`;
  if (!metadata.name && !metadata.generateName)
    throw new Refusal(422, "Invalid", "metadata.name: Required value: name or generateName is required");
  return json(201, createObject({ ...target, name }, object, context));
}

export function updateAnswer(request: HttpRequest, target: Target, context: ApiContext): HttpResponse {
  const body = bodyOf(request) as unknown as Loose;
  const old = present(target, context);
  return json(200, replace(target, old, body, context));
}

export function patchAnswer(request: HttpRequest, target: Target, context: ApiContext): HttpResponse {
  const type = request.headers["content-type"] ?? "";
  const old = current(target, context);
  if (type.startsWith("application/apply-patch")) {
    const manager = target.query.get("fieldManager") ?? "unknown";
    const applied = applyTo(target, old, bodyOf(request), manager, target.query.get("force") === "true");
    if (old === undefined)
      return json(201, createObject(target, applied as unknown as Loose, context, applied.metadata.managedFields));
    return json(200, replace(target, old, applied as unknown as Loose, context, true));
  }
  if (old === undefined) throw notFound(target.kind, target.name ?? "");
  const body = bodyOf(request);
  const patched = type.startsWith("application/json-patch")
    ? jsonPatched(old, body as unknown as readonly unknown[])
    : mergePatched(old, body);
  return json(200, replace(target, old, patched as Loose, context));
}

export function deleteAnswer(request: HttpRequest, target: Target, context: ApiContext): HttpResponse {
  const old = present(target, context);
  const { preconditions } = bodyOf(request) as {
    readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  };
  checkPrecondition(target, "UID", preconditions?.uid, old.metadata.uid);
  checkPrecondition(target, "ResourceVersion", preconditions?.resourceVersion, old.metadata.resourceVersion);
  if ((old.metadata.finalizers ?? []).length > 0) {
    if (old.metadata.deletionTimestamp !== undefined) return json(200, old);
    const deletionTimestamp = formatTime(context.env.now());
    const generation = (old.metadata.generation ?? 0) + 1;
    return json(
      200,
      store(
        target,
        old,
        { ...old, metadata: { ...old.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0, generation } },
        context,
      ),
    );
  }
  remove(target, old, context);
  const details = {
    name: old.metadata.name,
    group: target.kind.group,
    kind: target.kind.plural,
    uid: old.metadata.uid,
  };
  return json(200, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
}

/** Objects as writers send them: anything may be missing. */
type Loose = { readonly metadata?: Partial<ObjectMeta>; readonly spec?: unknown; readonly status?: unknown };

function createObject(
  target: Target,
  object: Loose,
  context: ApiContext,
  managedFields?: ObjectMeta["managedFields"],
): KubeObject {
  const { kind, namespace } = target;
  const name = target.name ?? "";
  if (current({ ...target, name }, context) !== undefined) throw alreadyExists(kind, name);
  const { status, ...rest } = object;
  const keepsStatus = !kind.statusSubresource && status !== undefined;
  const created = {
    ...rest,
    ...(keepsStatus && { status }),
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      ...object.metadata,
      name,
      ...(namespace !== undefined && { namespace }),
      uid: context.env.uuid(),
      generation: 1,
      creationTimestamp: formatTime(context.env.now()),
      ...(managedFields && { managedFields }),
    },
  };
  return store(target, undefined, created, context);
}

/** An update: a no-op changes nothing, the status path touches the status only, the last finalizer lets the object go. */
function replace(target: Target, old: KubeObject, wanted: Loose, context: ApiContext, applied = false): KubeObject {
  const { kind } = target;
  const name = old.metadata.name;
  const { uid, resourceVersion } = wanted.metadata ?? {};
  if (uid !== undefined && uid !== old.metadata.uid)
    throw conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`,
    );
  if (
    resourceVersion !== undefined &&
    resourceVersion !== "" &&
    resourceVersion !== old.metadata.resourceVersion &&
    !applied
  )
    throw conflict(kind, name, objectModified);
  const next =
    target.subresource === "status"
      ? withStatus(old, wanted)
      : withoutStatusChange(kind.statusSubresource === true, old, wanted);
  if (deepEqual(next, old)) return old;
  const specChanged = !deepEqual(contentOf(next), contentOf(old));
  const generation = (old.metadata.generation ?? 1) + (specChanged ? 1 : 0);
  const saved = { ...next, metadata: { ...next.metadata, generation } };
  const isLeaving = saved.metadata.deletionTimestamp !== undefined && (saved.metadata.finalizers ?? []).length === 0;
  if (isLeaving) return remove(target, saved, context);
  return store(target, old, saved, context);
}

function withStatus(old: KubeObject, wanted: Loose): KubeObject {
  const { status: _, ...rest } = old as KubeObject & { readonly status?: unknown };
  return wanted.status === undefined ? rest : ({ ...rest, status: wanted.status } as KubeObject);
}

function withoutStatusChange(separateStatus: boolean, old: KubeObject, wanted: Loose): KubeObject {
  const { status: _, ...content } = wanted;
  const status = separateStatus ? (old as Loose).status : wanted.status;
  const {
    name,
    namespace,
    uid,
    resourceVersion,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
  } = old.metadata;
  const fixed = JSON.parse(
    JSON.stringify({
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      deletionTimestamp,
      deletionGracePeriodSeconds,
      generation,
    }),
  );
  const metadata = withoutEmpty({ ...wanted.metadata, ...fixed });
  return {
    ...content,
    apiVersion: old.apiVersion,
    kind: old.kind,
    metadata,
    ...(status !== undefined && { status }),
  } as unknown as KubeObject;
}

const withoutEmpty = (metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(metadata).filter(
      ([, value]) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );

function contentOf(object: KubeObject): unknown {
  const { metadata: _metadata, status: _status, ...content } = object as KubeObject & { readonly status?: unknown };
  return content;
}

function store(target: Target, old: KubeObject | undefined, object: KubeObject, { store }: ApiContext): KubeObject {
  const version = store.nextVersion();
  const saved = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  store.append(resourceOf(target.kind), {
    version,
    key: storeKey(target.namespace, object.metadata.name),
    object: saved,
    old,
  });
  return saved;
}

function remove(target: Target, old: KubeObject, { store }: ApiContext): KubeObject {
  const version = store.nextVersion();
  const key = storeKey(target.namespace, old.metadata.name);
  const before = store.state(resourceOf(target.kind)).get(key);
  store.append(resourceOf(target.kind), { version, key, object: undefined, old: before });
  return { ...old, metadata: { ...old.metadata, resourceVersion: String(version) } };
}

function current({ kind, namespace, name }: Target, { store }: ApiContext): KubeObject | undefined {
  return store.state(resourceOf(kind)).get(storeKey(namespace, name ?? ""));
}

function present(target: Target, context: ApiContext): KubeObject {
  const object = current(target, context);
  if (object === undefined) throw notFound(target.kind, target.name ?? "");
  return object;
}

function checkPrecondition(target: Target, what: string, wanted: string | undefined, actual: string | undefined): void {
  if (wanted === undefined || wanted === actual) return;
  throw conflict(
    target.kind,
    target.name ?? "",
    `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${actual}`,
  );
}
