import { KnativeService } from "../../api/builtin/knative.ts";
import { ServiceMonitor } from "../../api/builtin/monitoring.ts";
import { labels } from "../../api/well-known.ts";
import type { KubeObject } from "../../kube/object.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { type Controller, defineReconciler } from "../../runtime/controller.ts";
import { done } from "../../runtime/result.ts";
import { type Channel, channel } from "../../runtime/source.ts";

/**
 * Kinds of other projects that may not be installed. A controller that watched them itself would wait for them for ever,
 * so each has a small one of its own that keeps what it sees and wakes the class runtime that it concerns.
 */
export interface FollowedKinds {
  readonly controllers: readonly Controller[];
  /** Keys of class runtimes whose children have changed. */
  readonly wakes: Channel;
  labelled(kind: FollowedKind, namespace: string, owner: string): readonly KubeObject[];
  named(kind: FollowedKind, namespace: string, name: string): KubeObject | undefined;
}

const kinds = { KnativeService, ServiceMonitor } as const;
export type FollowedKind = keyof typeof kinds;

export function followKinds(): FollowedKinds {
  const wakes = channel();
  const seen: Readonly<Record<FollowedKind, Map<string, KubeObject>>> = {
    KnativeService: new Map(),
    ServiceMonitor: new Map(),
  };
  const byClass: Readonly<Record<FollowedKind, Map<string, Map<string, KubeObject>>>> = {
    KnativeService: new Map(),
    ServiceMonitor: new Map(),
  };
  const follow = (kind: FollowedKind): Controller =>
    defineReconciler<KubeObject>({
      name: `class-runtime-${kinds[kind].plural === "services" ? "knative" : kinds[kind].plural}`,
      reconciles: kinds[kind],
      scope: { labelSelector: labels.classOwner },
      async reconcile(key, { read }) {
        const id = `${key.namespace}/${key.name}`;
        const before = seen[kind].get(id);
        const object = read.get<KubeObject>(kinds[kind], key);
        if (before) byClass[kind].get(classOf(before))?.delete(id);
        if (object) {
          seen[kind].set(id, object);
          const siblings = byClass[kind].get(classOf(object)) ?? new Map<string, KubeObject>();
          byClass[kind].set(classOf(object), siblings.set(id, object));
        } else seen[kind].delete(id);
        for (const owner of new Set([ownerOf(before), ownerOf(object)])) {
          if (owner !== undefined) wakes.send({ namespace: key.namespace ?? "", name: owner });
        }
        return done;
      },
    });
  return {
    controllers: [follow("KnativeService"), follow("ServiceMonitor")],
    wakes,
    labelled: (kind, namespace, owner) => [...(byClass[kind].get(`${namespace}/${owner}`)?.values() ?? [])],
    named: (kind, namespace, name) => seen[kind].get(`${namespace}/${name}`),
  };
}

const classOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.labels?.[labels.classOwner]}`;

function ownerOf(object: KubeObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  return controllerOf(object)?.name ?? object.metadata.labels?.[labels.classOwner];
}
