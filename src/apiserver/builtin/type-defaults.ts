import { addQuantities, formatQuantity, quantity } from "../../kube/quantity.ts";
import { child, type Draft, fill, fillEmpty, items, text } from "./draft.ts";
import { imageTag } from "./image.ts";
import { limitRangeItem } from "./limit-range-defaults.ts";

/** The defaults of types that stand in several kinds, by the name of the type. */

type Fill = (draft: Draft) => void;

const core = "io.k8s.api.core.v1";
const admission = "io.k8s.api.admissionregistration.v1";

const values =
  (defaults: Readonly<Record<string, unknown>>): Fill =>
  (draft) => {
    for (const [field, value] of Object.entries(defaults)) fillEmpty(draft, field, value);
  };

const defaultMode: Fill = (draft) => fill(draft, "defaultMode", 0o644);

const container: Fill = (draft) => {
  fillEmpty(draft, "terminationMessagePath", "/dev/termination-log");
  fillEmpty(draft, "terminationMessagePolicy", "File");
  fillEmpty(draft, "imagePullPolicy", imageTag(text(draft, "image")) === "latest" ? "Always" : "IfNotPresent");
};

const podSpec: Fill = (draft) => {
  fillEmpty(draft, "restartPolicy", "Always");
  fill(draft, "terminationGracePeriodSeconds", 30);
  fillEmpty(draft, "dnsPolicy", "ClusterFirst");
  fill(draft, "securityContext", {});
  fillEmpty(draft, "schedulerName", "default-scheduler");
  // The deprecated alias always tells the same.
  const account = text(draft, "serviceAccountName") || text(draft, "serviceAccount");
  if (account !== "") {
    draft["serviceAccountName"] = account;
    draft["serviceAccount"] = account;
  }
};

const volume: Fill = (draft) => {
  const hasSource = Object.keys(draft).some((field) => field !== "name");
  if (!hasSource) draft["emptyDir"] = {};
  const image = child(draft, "image");
  if (image)
    fillEmpty(image, "pullPolicy", imageTag(text(image, "reference")) === "latest" ? "Always" : "IfNotPresent");
};

const matchResources: Fill = (draft) => {
  fill(draft, "namespaceSelector", {});
  fill(draft, "objectSelector", {});
  fill(draft, "matchPolicy", "Equivalent");
};

const webhook: Fill = (draft) => {
  fill(draft, "failurePolicy", "Fail");
  matchResources(draft);
  fill(draft, "timeoutSeconds", 10);
};

const mutatingWebhook: Fill = (draft) => {
  webhook(draft);
  fill(draft, "reinvocationPolicy", "Never");
};

const discoveryPort: Fill = (draft) => {
  fill(draft, "name", "");
  fill(draft, "protocol", "TCP");
};

const subject: Fill = (draft) => {
  const kind = text(draft, "kind");
  if (kind === "User" || kind === "Group") fillEmpty(draft, "apiGroup", "rbac.authorization.k8s.io");
};

const ruleScope: Fill = (draft) => fill(draft, "scope", "*");
const servicePort: Fill = (draft) => {
  fillEmpty(draft, "protocol", "TCP");
  fillEmpty(draft, "targetPort", draft["port"]);
};

const servicePort443: Fill = (draft) => fill(draft, "port", 443);

export const typeDefaults: ReadonlyMap<string, Fill> = new Map<string, Fill>([
  [`${core}.PodSpec`, podSpec],
  [`${core}.Container`, container],
  [`${core}.EphemeralContainer`, container],
  [`${core}.Volume`, volume],
  [`${core}.ContainerPort`, values({ protocol: "TCP" })],
  [`${core}.Probe`, values({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 })],
  [`${core}.HTTPGetAction`, values({ path: "/", scheme: "HTTP" })],
  [`${core}.GRPCAction`, (draft) => fill(draft, "service", "")],
  [`${core}.ObjectFieldSelector`, values({ apiVersion: "v1" })],
  [`${core}.SecretVolumeSource`, defaultMode],
  [`${core}.ConfigMapVolumeSource`, defaultMode],
  [`${core}.DownwardAPIVolumeSource`, defaultMode],
  [`${core}.ProjectedVolumeSource`, defaultMode],
  [`${core}.ServiceAccountTokenProjection`, (draft) => fill(draft, "expirationSeconds", 3600)],
  [`${core}.HostPathVolumeSource`, (draft) => fill(draft, "type", "")],
  [`${core}.ISCSIVolumeSource`, values({ iscsiInterface: "default" })],
  [`${core}.RBDVolumeSource`, values({ pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" })],
  [`${core}.AzureDiskVolumeSource`, values({ cachingMode: "ReadWrite", fsType: "ext4", kind: "Shared" })],
  [`${core}.ScaleIOVolumeSource`, values({ storageMode: "ThinProvisioned", fsType: "xfs" })],
  [`${core}.PersistentVolumeClaimSpec`, (draft) => fill(draft, "volumeMode", "Filesystem")],
  [`${core}.PersistentVolumeClaimStatus`, values({ phase: "Pending" })],
  [`${core}.NamespaceStatus`, values({ phase: "Active" })],
  [`${core}.ServicePort`, servicePort],
  [`${core}.LimitRangeItem`, limitRangeItem],
  [`${core}.EndpointPort`, values({ protocol: "TCP" })],
  ["io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern", values({ status: "True" })],
  ["io.k8s.api.discovery.v1.EndpointPort", discoveryPort],
  ["io.k8s.api.networking.v1.NetworkPolicyPort", (draft) => fill(draft, "protocol", "TCP")],
  ["io.k8s.api.rbac.v1.Subject", subject],
  [`${admission}.ValidatingWebhook`, webhook],
  [`${admission}.MutatingWebhook`, mutatingWebhook],
  [`${admission}.RuleWithOperations`, ruleScope],
  [`${admission}.NamedRuleWithOperations`, ruleScope],
  [`${admission}.ServiceReference`, servicePort443],
  [`${admission}.MatchResources`, matchResources],
  [`${admission}.ValidatingAdmissionPolicySpec`, (draft) => fill(draft, "failurePolicy", "Fail")],
  ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference", servicePort443],
  ["io.k8s.api.authentication.v1.TokenRequestSpec", (draft) => fill(draft, "expirationSeconds", 3600)],
]);

/** For pods only, not for their templates: requests follow limits, and host ports follow container ports. */
export function podOnlyDefaults(spec: Draft): void {
  for (const entry of [...items(spec, "containers"), ...items(spec, "initContainers")]) {
    const resources = child(entry, "resources");
    const limits = child(resources, "limits");
    if (!resources || !limits) continue;
    resources["requests"] = { ...limits, ...child(resources, "requests") };
  }
  podLevelRequests(spec);
  fill(spec, "enableServiceLinks", true);
  if (spec["hostNetwork"] !== true) return;
  for (const entry of [...items(spec, "containers"), ...items(spec, "initContainers")]) {
    for (const port of items(entry, "ports")) fillEmpty(port, "hostPort", port["containerPort"]);
  }
}

/** Resources of the whole pod: what its containers ask for, otherwise what the pod may use at most. */
function podLevelRequests(spec: Draft): void {
  const resources = child(spec, "resources");
  const limits = child(resources, "limits");
  if (!resources || !limits) return;
  const requests: Draft = { ...child(resources, "requests") };
  for (const name of Object.keys(limits)) requests[name] ??= containerRequests(spec, name) ?? limits[name];
  resources["requests"] = requests;
}

function containerRequests(spec: Draft, name: string): string | undefined {
  const asked = items(spec, "containers").flatMap((container) => {
    const value = child(child(container, "resources"), "requests")?.[name];
    return value === undefined ? [] : [quantity(String(value))];
  });
  const [first, ...rest] = asked;
  return first && formatQuantity(rest.reduce(addQuantities, first));
}
