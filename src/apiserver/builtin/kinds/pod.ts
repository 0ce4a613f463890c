import type { Behaviour } from "../behaviour.ts";
import { child, type Draft, items, numeral, text } from "../draft.ts";
import { qosClass } from "../qos.ts";
import { podOnlyDefaults } from "../type-defaults.ts";
import { validateEphemeralContainers, validatePodResize } from "../validation/pod-parts.ts";
import { validateNewPod } from "../validation/pod-spec.ts";
import { validatePodUpdate } from "../validation/pod-update.ts";
import { validatePodStatus } from "../validation/status.ts";
import { podWarnings } from "../warnings.ts";
import { podColumns } from "./pod-columns.ts";

export const pod: Behaviour = {
  validate: validateNewPod,
  validateStatus: validatePodStatus,
  warnings: podWarnings,
  updateSkipsValidate: true,
  validateUpdate: validatePodUpdate,
  generationPaths: ["spec"],
  selectableFields: [
    ...["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork"],
    ...["status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"],
  ],
  fieldValues: {
    "spec.hostNetwork": (object) => String(child(object, "spec")?.["hostNetwork"] === true),
    "status.podIP": (object) => text(items(child(object, "status"), "podIPs")[0], "ip"),
  },
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    if ((numeral(spec, "terminationGracePeriodSeconds") ?? 0) < 0) spec["terminationGracePeriodSeconds"] = 1;
    podOnlyDefaults(spec);
  },
  prepareCreate(draft) {
    const spec = child(draft, "spec");
    const gated = items(spec, "schedulingGates").length > 0;
    draft["status"] = {
      phase: "Pending",
      ...(gated && { conditions: [gatedCondition(text(child(draft, "metadata"), "creationTimestamp"))] }),
      qosClass: qosClass(spec),
    };
  },
  prepareStatus(draft, old) {
    const { ownerReferences: _, ...metadata } = child(draft, "metadata") ?? {};
    const owners = child(old, "metadata")?.["ownerReferences"];
    draft["metadata"] = { ...metadata, ...(owners !== undefined && { ownerReferences: owners }) };
    const status = { ...child(draft, "status") };
    if (text(status, "qosClass") === "") status["qosClass"] = child(old, "status")?.["qosClass"];
    draft["status"] = withoutUndefined(status);
  },
  parts: {
    ephemeralcontainers: {
      spec: ({ ephemeralContainers }, old) => withMember(old, "ephemeralContainers", ephemeralContainers),
      validate: validateEphemeralContainers,
    },
    resize: {
      spec: (wanted, old) => ({
        ...old,
        containers: resized(items(wanted, "containers"), items(old, "containers")),
        ...(old["initContainers"] !== undefined && {
          initContainers: resized(items(wanted, "initContainers"), items(old, "initContainers")),
        }),
      }),
      validate: validatePodResize,
    },
  },
  columns: podColumns,
};

const gatedCondition = (since: string): Draft => ({
  type: "PodScheduled",
  status: "False",
  lastProbeTime: null,
  lastTransitionTime: since === "" ? null : since,
  reason: "SchedulingGated",
  message: "Scheduling is blocked due to non-empty scheduling gates",
});

function withMember(spec: Draft, field: string, value: unknown): Draft {
  const { [field]: _before, ...rest } = spec;
  return value === undefined ? rest : { ...rest, [field]: value };
}

const resized = (wanted: readonly Draft[], old: readonly Draft[]): readonly Draft[] =>
  old.map((container) => {
    const change = wanted.find((one) => text(one, "name") === text(container, "name"));
    return change ? { ...container, resources: change["resources"] } : container;
  });

const withoutUndefined = (draft: Draft): Draft =>
  Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
