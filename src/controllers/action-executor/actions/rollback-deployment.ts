import { Deployment, ReplicaSet } from "../../../api/builtin/workloads.ts";
import type { KubeObject } from "../../../kube/object.ts";
import { allow } from "../../../runtime/permission.ts";
import { defineAction, type TargetState } from "./definition.ts";
import { restoreDeployment } from "./restore-deployment.ts";
import { selectorText } from "./selector-text.ts";

export const rollbackDeployment = defineAction({
  action: "rollback_deployment",
  permissions: [allow(Deployment, ["get", "patch"]), allow(ReplicaSet, ["get", "list"])],
  // Without a number "the previous one" would be another one the second time.
  idempotent: false,
  estimatedDuration: "2m",
  seenBy: "Read",
  target: ({ deployment, namespace }) => ({ kind: Deployment, namespace, name: deployment }),
  related: ({ namespace }, object) => ({
    kind: ReplicaSet,
    namespace,
    labelSelector: selectorText(object.spec.selector),
  }),
  objection(state, { revision }) {
    if (state.object?.spec.paused) return "it is paused, so a rollback would not take place";
    if (wanted(state, revision)) return undefined;
    const known = revisions(state).map(({ revision: number }) => number);
    return revision
      ? `it has no revision ${revision}; it has ${known.join(", ") || "none"}`
      : "it has no earlier revision to return to";
  },
  plan(state, { revision }) {
    const found = wanted(state, revision);
    const template = found && withoutHash(found.replicaSet);
    return {
      effects: [
        {
          kind: "Patch",
          patch: { type: "json", operations: [{ op: "replace", path: "/spec/template", value: template }] },
        },
      ],
      verb: "rolled back",
      before: `revision: ${currentRevision(state)}`,
      after: `revision: ${found?.revision}`,
    };
  },
  rollback: restoreDeployment,
});

interface Revision {
  readonly revision: number;
  readonly replicaSet: ReplicaSet;
}

function wanted(state: TargetState<Deployment>, revision: number | undefined): Revision | undefined {
  const all = revisions(state);
  // As kubectl has it: 0 and nothing both mean the one before.
  if (revision) return all.find((candidate) => candidate.revision === revision);
  const current = currentRevision(state);
  return all.findLast((candidate) => candidate.revision < current);
}

const revisions = ({ object, related }: TargetState<Deployment>): readonly Revision[] =>
  (related as readonly ReplicaSet[])
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === object?.metadata.uid))
    .map((replicaSet) => ({ revision: revisionOf(replicaSet), replicaSet }))
    .sort((a, b) => a.revision - b.revision);

const currentRevision = ({ object }: TargetState<Deployment>): number => (object ? revisionOf(object) : 0);

const revisionOf = ({ metadata }: KubeObject): number =>
  Number(metadata.annotations?.["deployment.kubernetes.io/revision"] ?? 0);

/** The label that tells ReplicaSets apart is not part of what the user wrote. */
function withoutHash({ spec }: ReplicaSet): unknown {
  const { "pod-template-hash": _hash, ...labels } = spec.template?.metadata?.labels ?? {};
  return { ...spec.template, metadata: { ...spec.template?.metadata, labels } };
}
