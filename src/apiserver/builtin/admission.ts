import type { KubeObject } from "../../kube/object.ts";
import { isDefaultIngressClass, isDefaultStorageClass } from "./default-classes.ts";
import { child, type Draft, draftOf, ensure, fill, finished, items, numeral, partsOf, strings, text } from "./draft.ts";

/**
 * What the real server's own admission adds to a new object, besides the defaults of its type: tolerations, priority,
 * ServiceAccount and token of a pod, protection of a claim, the taint of a node that is not ready yet.
 */
export interface AdmissionLookups {
  priorityClasses(): readonly KubeObject[];
  storageClasses(): readonly KubeObject[];
  ingressClasses(): readonly KubeObject[];
  /** Answers nothing when there is none of this name. */
  serviceAccount(namespace: string, name: string): KubeObject | undefined;
  /** Five random characters for the name of the token's volume. */
  suffix(): string;
}

export type Admitted =
  | { readonly kind: "Admitted"; readonly object: KubeObject }
  | { readonly kind: "Forbidden"; readonly message: string };

export function admitNew(object: KubeObject, lookups: AdmissionLookups): Admitted {
  switch (`${object.apiVersion}/${object.kind}`) {
    case "v1/Pod":
      return admitPod(draftOf(object), lookups);
    case "v1/PersistentVolumeClaim":
      return admitted(admitClaim(draftOf(object), lookups));
    case "v1/PersistentVolume":
      return admitted(protect(draftOf(object), "kubernetes.io/pv-protection"));
    case "networking.k8s.io/v1/Ingress":
      return admitIngress(object, lookups);
    case "v1/Node":
      return admitted(admitNode(draftOf(object)));
    default:
      return { kind: "Admitted", object };
  }
}

const admitted = (draft: Draft): Admitted => ({ kind: "Admitted", object: finished(draft) });
const forbidden = (message: string): Admitted => ({ kind: "Forbidden", message });

function admitPod(draft: Draft, lookups: AdmissionLookups): Admitted {
  const spec = ensure(draft, "spec");
  const refusal = useServiceAccount(draft, spec, lookups) ?? usePriority(spec, lookups);
  if (refusal !== undefined) return forbidden(refusal);
  const runtimeClass = text(spec, "runtimeClassName");
  if (runtimeClass !== "") return forbidden(`pod rejected: RuntimeClass ${JSON.stringify(runtimeClass)} not found`);
  if (child(spec, "overhead")) {
    return forbidden("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  tolerate(spec);
  return admitted(draft);
}

/** A pod may stay five minutes on a node that stopped answering. */
const patienceSeconds = 300;
const unhealthyTaints = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

function tolerate(spec: Draft): void {
  const own = items(spec, "tolerations");
  const missing = unhealthyTaints.filter((key) => !own.some((toleration) => coversExecution(toleration, key)));
  if (missing.length === 0) return;
  spec["tolerations"] = [
    ...own,
    ...missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: patienceSeconds })),
  ];
}

function coversExecution(toleration: Draft, key: string): boolean {
  const own = text(toleration, "key");
  const effect = text(toleration, "effect");
  return (own === key || own === "") && (effect === "NoExecute" || effect === "");
}

const systemPriorities: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", 2_000_000_000],
  ["system-node-critical", 2_000_001_000],
]);

function usePriority(spec: Draft, lookups: AdmissionLookups): string | undefined {
  const name = text(spec, "priorityClassName");
  const classes = lookups.priorityClasses().map(partsOf);
  const named = classes.find((candidate) => text(child(candidate, "metadata"), "name") === name);
  const chosen = name === "" ? defaultClass(classes) : named;
  const known = systemPriorities.get(name);
  if (name !== "" && !named && known === undefined) return `no PriorityClass with name ${name} was found`;
  const value = chosen ? (numeral(chosen, "value") ?? 0) : (known ?? 0);
  const policy = text(chosen, "preemptionPolicy") || "PreemptLowerPriority";
  if (spec["priority"] !== undefined && spec["priority"] !== value) {
    return `the integer value of priority (${String(spec["priority"])}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
  }
  if (name === "" && chosen) spec["priorityClassName"] = text(child(chosen, "metadata"), "name");
  spec["priority"] = value;
  const given = spec["preemptionPolicy"];
  if (given !== undefined && given !== policy) {
    return `the string value of PreemptionPolicy (${String(given)}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`;
  }
  spec["preemptionPolicy"] = policy;
  return undefined;
}

const defaultClass = (classes: readonly Draft[]): Draft | undefined =>
  classes
    .filter((candidate) => candidate["globalDefault"] === true)
    .toSorted((left, right) => (numeral(left, "value") ?? 0) - (numeral(right, "value") ?? 0))[0];

const tokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
/** An hour and seven seconds: the odd number tells this token from the ones that people ask for. */
const tokenSeconds = 3607;

function useServiceAccount(draft: Draft, spec: Draft, lookups: AdmissionLookups): string | undefined {
  const namespace = text(child(draft, "metadata"), "namespace");
  const isMirror = text(child(child(draft, "metadata"), "annotations"), "kubernetes.io/config.mirror") !== "";
  if (isMirror) return undefined;
  const name = text(spec, "serviceAccountName") || "default";
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
  const found = lookups.serviceAccount(namespace, name);
  if (!found) return `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
  const account = partsOf(found);
  const pullSecrets = items(account, "imagePullSecrets");
  if (items(spec, "imagePullSecrets").length === 0 && pullSecrets.length > 0) spec["imagePullSecrets"] = pullSecrets;
  const automount = spec["automountServiceAccountToken"] ?? account["automountServiceAccountToken"] ?? true;
  if (automount !== false) mountToken(spec, lookups);
  return undefined;
}

function mountToken(spec: Draft, lookups: AdmissionLookups): void {
  const containers = [...items(spec, "initContainers"), ...items(spec, "containers")];
  const without = containers.filter(
    (container) => !items(container, "volumeMounts").some((mount) => text(mount, "mountPath") === tokenMountPath),
  );
  if (without.length === 0) return;
  const name = `kube-api-access-${lookups.suffix()}`;
  for (const container of without) {
    const mount = { name, readOnly: true, mountPath: tokenMountPath };
    container["volumeMounts"] = [...items(container, "volumeMounts"), mount];
  }
  spec["volumes"] = [...items(spec, "volumes"), tokenVolume(name)];
}

const tokenVolume = (name: string): Draft => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: tokenSeconds, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      {
        downwardAPI: {
          items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
});

function admitClaim(draft: Draft, lookups: AdmissionLookups): Draft {
  protect(draft, "kubernetes.io/pvc-protection");
  const standard = lookups.storageClasses().map(partsOf).filter(isDefaultStorageClass).toSorted(newestFirst)[0];
  if (standard) fill(ensure(draft, "spec"), "storageClassName", text(child(standard, "metadata"), "name"));
  return draft;
}

/** Whatever is in use is kept until nobody uses it any more. */
function protect(draft: Draft, protection: string): Draft {
  const metadata = ensure(draft, "metadata");
  const finalizers = strings(metadata, "finalizers");
  if (!finalizers.includes(protection)) metadata["finalizers"] = [...finalizers, protection];
  return draft;
}

/** An Ingress that names no class gets the default one; of several the newest. */
function admitIngress(object: KubeObject, lookups: AdmissionLookups): Admitted {
  const parts = partsOf(object);
  const annotations = child(child(parts, "metadata"), "annotations");
  if (
    text(child(parts, "spec"), "ingressClassName") !== "" ||
    annotations?.["kubernetes.io/ingress.class"] !== undefined
  ) {
    return { kind: "Admitted", object };
  }
  const standard = lookups.ingressClasses().map(partsOf).filter(isDefaultIngressClass).toSorted(newestFirst)[0];
  if (!standard) return { kind: "Admitted", object };
  const draft = draftOf(object);
  ensure(draft, "spec")["ingressClassName"] = text(child(standard, "metadata"), "name");
  return admitted(draft);
}

const newestFirst = (left: Draft, right: Draft): number => {
  const [a, b] = [left, right].map((draft) => text(child(draft, "metadata"), "creationTimestamp"));
  return (a ?? "") < (b ?? "") ? 1 : -1;
};

function admitNode(draft: Draft): Draft {
  const spec = ensure(draft, "spec");
  const taints = items(spec, "taints");
  const key = "node.kubernetes.io/not-ready";
  if (!taints.some((taint) => text(taint, "key") === key && text(taint, "effect") === "NoSchedule")) {
    spec["taints"] = [...taints, { key, effect: "NoSchedule" }];
  }
  return draft;
}
