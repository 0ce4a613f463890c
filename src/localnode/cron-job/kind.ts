import type { Job } from "../../api/builtin/job.ts";
import type { TemplateMetadata } from "../../api/builtin/metadata.ts";
import type { Kind, KindRef } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";

/** CronJobs, as far as this room reads and writes them. */
export interface CronJob extends KubeObject {
  readonly spec: {
    readonly schedule: string;
    readonly timeZone?: string;
    readonly startingDeadlineSeconds?: number;
    readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
    readonly suspend?: boolean;
    readonly jobTemplate: { readonly metadata?: TemplateMetadata; readonly spec: Job["spec"] };
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
  };
  readonly status?: {
    readonly active?: readonly JobReference[];
    readonly lastScheduleTime?: string;
    readonly lastSuccessfulTime?: string;
  };
}

export interface JobReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export const CronJob: KindRef<CronJob> & Pick<Kind, "statusSubresource"> = {
  group: "batch",
  version: "v1",
  kind: "CronJob",
  plural: "cronjobs",
  namespaced: true,
  statusSubresource: true,
};
