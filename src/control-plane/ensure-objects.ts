import { Namespace } from "../api/builtin/cluster.ts";
import { ConfigMap } from "../api/builtin/configuration.ts";
import { builtinKinds } from "../api/builtin/kinds.ts";
import { ApiError } from "../client/api-error.ts";
import type { Client } from "../client/client.ts";
import type { KubeObject } from "../kube/object.ts";

/**
 * What an installation of ours consists of. ConfigMaps are made once and then belong to the user; everything else is put
 * right again. Namespaces come first, the last object last, and the rest at once.
 */
export async function ensureObjects(client: Client, objects: readonly KubeObject[]): Promise<void> {
  const ensure = async (object: KubeObject): Promise<void> => {
    const group = object.apiVersion.includes("/") ? (object.apiVersion.split("/")[0] ?? "") : "";
    const kind = builtinKinds.find((known) => known.group === group && known.kind === object.kind);
    if (!kind) throw new Error(`${object.kind} ${object.metadata.name}: ${object.apiVersion} is not built in`);
    if (object.kind !== ConfigMap.kind)
      await client.apply(kind, object, { fieldManager: "capstan-install", force: true });
    else
      await client.create(kind, object, { fieldManager: "capstan-install" }).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
      });
  };
  const last = objects.at(-1);
  const isFirst = ({ kind }: KubeObject): boolean => kind === Namespace.kind;
  await Promise.all(objects.filter(isFirst).map(ensure));
  await Promise.all(objects.filter((object) => !isFirst(object) && object !== last).map(ensure));
  if (last) await ensure(last);
}
