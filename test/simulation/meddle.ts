import { labels } from "../../src/api/well-known.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { PlannedFault } from "./plan.ts";
import type { Stage } from "./stage.ts";
import type { Story } from "./story.ts";

/** F32, F33: a third party that changes what is ours, and does not say so. */
export async function meddle(
  stage: Stage,
  story: Story,
  { deed, pick }: Extract<PlannedFault, { kind: "Meddle" }>,
): Promise<void> {
  if (story.withstands?.includes(deed) === false) return;
  const client = stage.api.clientOf("meddler");
  const kind = story.children[pick % story.children.length];
  if (kind === undefined) return;
  const { items } = await client.list(kind, { namespace: "default" });
  const ours = items.filter(({ metadata }) => metadata.ownerReferences?.length || metadata.labels?.[labels.controller]);
  const target = ours[pick % Math.max(1, ours.length)];
  if (target === undefined) return;
  const { name, namespace = "" } = target.metadata;
  try {
    if (deed === "delete") await client.delete(kind, { namespace, name });
    else await client.patch(kind, { namespace, name }, { type: "merge", value: deeds[deed](target) });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** At the end the third party takes its finalizers back. */
export async function letGo(stage: Stage, story: Story): Promise<void> {
  const client = stage.api.clientOf("meddler");
  for (const kind of story.children)
    for (const { metadata } of (await client.list(kind)).items) {
      const { name, namespace = "", finalizers = [] } = metadata;
      if (!finalizers.includes(heldFinalizer)) continue;
      const left = finalizers.filter((finalizer) => finalizer !== heldFinalizer);
      const value = { metadata: { finalizers: left.length > 0 ? left : null } };
      await client.patch(kind, { namespace, name }, { type: "merge", value });
    }
}

const heldFinalizer = "simulation/held";

type Deed = (target: KubeObject) => object;

const deeds: Readonly<Record<Exclude<Extract<PlannedFault, { kind: "Meddle" }>["deed"], "delete">, Deed>> = {
  edit: () => ({ spec: { provider: { moduleManifestName: "elsewhere" }, replicas: 7 } }),
  orphan: () => ({ metadata: { ownerReferences: null } }),
  relabel: ({ metadata }) => ({
    metadata: { labels: Object.fromEntries(Object.keys(metadata.labels ?? {}).map((label) => [label, "meddled"])) },
  }),
  addFinalizer: ({ metadata }) => ({ metadata: { finalizers: [...(metadata.finalizers ?? []), heldFinalizer] } }),
  dropFinalizer: () => ({ metadata: { finalizers: null } }),
  wrongOwner: ({ metadata }) => ({
    metadata: {
      ownerReferences: metadata.ownerReferences?.map((owner) => ({
        ...owner,
        uid: "00000000-0000-4000-8000-000000000000",
      })),
    },
  }),
};
