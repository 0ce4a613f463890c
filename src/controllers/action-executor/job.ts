import type { Action } from "../../api/action.ts";
import type { Secret } from "../../api/builtin/configuration.ts";
import type { Job } from "../../api/builtin/job.ts";
import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import { labels } from "../../api/well-known.ts";
import type { NewObject } from "../../client/client.ts";
import { safeLabelValue } from "../../kube/names.ts";
import { actionDefinition } from "./actions/catalogue.ts";
import {
  controllerName,
  executionAnnotations,
  jobFinalizer,
  jobNameOf,
  jobNamespace,
  serviceAccountOf,
} from "./names.ts";
import type { Order } from "./order.ts";
import { specHashOf } from "./spec-hash.ts";

export interface JobOptions {
  readonly execution: KubernetesExecution;
  readonly action: Action;
  readonly dryRun: boolean;
  readonly image: string;
  readonly timeoutSeconds: number;
}

/** One Job for one effect: our own image, no shell, and nothing of what a user wrote in its arguments. */
export function renderJob(options: JobOptions): NewObject<Job> {
  const { execution, action, dryRun, image, timeoutSeconds } = options;
  const metadata = metadataOf(execution, action, dryRun);
  const definition = actionDefinition(action);
  return {
    metadata: { ...metadata, finalizers: [jobFinalizer] },
    spec: {
      backoffLimit: definition.idempotent && !dryRun ? (execution.spec.maxRetries ?? defaultMaxRetries) : 0,
      activeDeadlineSeconds: timeoutSeconds,
      ttlSecondsAfterFinished: 300,
      completions: 1,
      parallelism: 1,
      // A pod that is still ending may still act: its successor waits for it (H2).
      podReplacementPolicy: "Failed",
      podFailurePolicy: {
        rules: [
          {
            action: "FailJob",
            onExitCodes: { containerName: "act", operator: "In", values: [2] },
          },
        ],
      },
      template: {
        metadata: { labels: metadata.labels, annotations: metadata.annotations },
        spec: {
          serviceAccountName: serviceAccountOf(action),
          automountServiceAccountToken: true,
          restartPolicy: "Never",
          enableServiceLinks: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65532,
            runAsGroup: 65532,
            fsGroup: 65532,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [
            {
              name: "act",
              image,
              command: ["capstan"],
              args: ["act", "--order", `${orderFolder}/${orderKey}`, "--result", "/dev/termination-log"],
              terminationMessagePath: "/dev/termination-log",
              terminationMessagePolicy: "File",
              resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { cpu: "200m", memory: "256Mi" } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                runAsNonRoot: true,
                capabilities: { drop: ["ALL"] },
                seccompProfile: { type: "RuntimeDefault" },
              },
              volumeMounts: [{ name: "order", mountPath: orderFolder, readOnly: true }],
            },
          ],
          volumes: [{ name: "order", secret: { secretName: metadata.name, defaultMode: 0o440 } }],
        },
      },
    },
  };
}

/** The order goes into a Secret of the same name: it may carry a secret, and nobody else need see it. */
export const renderSecret = (execution: KubernetesExecution, order: Order): NewObject<Secret> => ({
  metadata: metadataOf(execution, order.action, order.dryRun),
  type: "Opaque",
  immutable: true,
  data: { [orderKey]: Buffer.from(JSON.stringify(order)).toString("base64") },
});

function metadataOf(execution: KubernetesExecution, action: Action, dryRun: boolean) {
  const { name, namespace = "", uid = "" } = execution.metadata;
  return {
    name: jobNameOf({ name, uid }, action, dryRun),
    namespace: jobNamespace,
    labels: {
      [labels.jobOwner]: "kubernetesexecution",
      [labels.action]: action,
      [labels.executionId]: safeLabelValue(name),
      [labels.managedBy]: "capstan",
      [labels.controller]: controllerName,
    },
    annotations: {
      [executionAnnotations.namespace]: namespace,
      [executionAnnotations.name]: name,
      [executionAnnotations.uid]: uid,
      [executionAnnotations.specHash]: specHashOf(execution.spec),
    },
  };
}

const orderFolder = "/run/capstan/order";
const orderKey = "order.json";
const defaultMaxRetries = 2;
