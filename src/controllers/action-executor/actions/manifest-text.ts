import { ConfigMap } from "../../../api/builtin/configuration.ts";
import { NetworkPolicy } from "../../../api/builtin/network-policy.ts";
import { HorizontalPodAutoscaler, PodDisruptionBudget } from "../../../api/builtin/scaling.ts";
import { Service } from "../../../api/builtin/service.ts";
import { DaemonSet, Deployment, StatefulSet } from "../../../api/builtin/workloads.ts";
import { apiVersionOf, type Kind } from "../../../kube/kind.ts";
import { dns1123LabelErrors, dns1123SubdomainErrors } from "../../../kube/names.ts";
import type { KubeObject } from "../../../kube/object.ts";
import { type Parsed, parsed, refused } from "../../../kube/parsed.ts";
import { parseYaml } from "../../../kube/yaml.ts";
import { isRecord, patchMaxBytes } from "./patch-text.ts";

/**
 * The kinds that a manifest may be of. Roles, webhooks, namespaces and definitions are left out on purpose: whoever can
 * apply those can give themselves anything. Secrets have an action of their own, which reads none.
 */
export const manifestKinds: readonly Kind[] = [
  Deployment,
  StatefulSet,
  DaemonSet,
  Service,
  ConfigMap,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  NetworkPolicy,
];

export interface Manifest {
  readonly kind: Kind;
  readonly object: KubeObject & { readonly metadata: { readonly namespace: string } };
}

/** One object, in YAML or JSON, read once: what the policies see is what is applied. */
export function parseManifest(text: string): Parsed<Manifest> {
  const yaml = parseYaml(text, { file: "manifest", maxBytes: patchMaxBytes });
  if (!yaml.ok) return refused(yaml.problems.map(({ message }) => message).join("; "));
  const [document, ...more] = yaml.documents;
  if (document === undefined || more.length > 0) return refused("exactly one object is expected");
  const value = document.value;
  if (!isRecord(value) || !isRecord(value["metadata"]))
    return refused("it is not a Kubernetes object: apiVersion, kind and metadata are needed");
  const { name, namespace, ...rest } = value["metadata"];
  const kind = manifestKinds.find(
    (known) => known.kind === value["kind"] && apiVersionOf(known) === value["apiVersion"],
  );
  if (kind === undefined)
    return refused(
      `${String(value["apiVersion"])} ${String(value["kind"])} cannot be applied; these can: ${manifestKinds
        .map((known) => known.kind)
        .sort()
        .join(", ")}`,
    );
  if (typeof name !== "string" || dns1123SubdomainErrors(name).length > 0)
    return refused("metadata.name must be the name of the object");
  if (typeof namespace !== "string" || dns1123LabelErrors(namespace).length > 0)
    return refused("metadata.namespace must be set: nothing is assumed");
  const forbidden = Object.keys(rest).filter((key) => key !== "labels" && key !== "annotations");
  if (forbidden.length > 0) return refused(`metadata.${forbidden[0]} may not be set`);
  if ("status" in value) return refused("status may not be set");
  return parsed({ kind, object: value as unknown as Manifest["object"] });
}
