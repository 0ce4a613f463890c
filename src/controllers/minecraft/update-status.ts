import type { PaperMCServer, PaperServerEvent, PaperServerReason } from "../../api/papermc-server.ts";
import type { UpdateStep } from "../../api/papermc-server-status.ts";
import { setCondition } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import { readImage, serverImage } from "./paper-image.ts";
import { planServer } from "./server-plan.ts";
import { installedPlugins } from "./server-status.ts";
import type { UpdatePlan, UpdateSnapshot } from "./update-plan.ts";

type Status = NonNullable<PaperMCServer["status"]>;

/** What came of a step that does something. */
export type StepOutcome =
  | { readonly kind: "None" }
  | ({ readonly kind: "Again"; readonly afterMs: number } & SnapshotNews)
  | ({ readonly kind: "Next"; readonly step: UpdateStep; readonly events?: readonly Note[] } & SnapshotNews)
  | { readonly kind: "Failed"; readonly message: string; readonly backup?: Status["backup"] };

/** The snapshot before the update, where a step made or awaited one. */
interface SnapshotNews {
  readonly snapshotName?: string;
  readonly backup?: Status["backup"];
}

export interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: PaperServerEvent;
  readonly message: string;
}

export interface UpdateResult {
  readonly status: Status;
  readonly events: readonly Note[];
  readonly requeueAfterMs?: number;
  readonly ended?: "success" | "failure";
}

export function updateStatus(snapshot: UpdateSnapshot, plan: UpdatePlan, outcome: StepOutcome): UpdateResult {
  const { server, set, now } = snapshot;
  const status: Status = server.status ?? {};
  const { updateProgress: progress, ...without } = status;
  switch (plan.kind) {
    case "Idle":
      return { status, events: [], ...(plan.lookAgainMs !== undefined && { requeueAfterMs: plan.lookAgainMs }) };
    case "Begin": {
      const { availableUpdate: update } = status;
      if (!update) return { status, events: [] };
      const previousImage = serverImage(set);
      const message = `Paper ${update.version} build ${update.build} with ${update.plugins.length} plugins`;
      return {
        status: saying(
          server,
          {
            ...status,
            updateProgress: {
              step: plan.first,
              version: update.version,
              build: update.build,
              startedAt: formatTime(now),
              stepStartedAt: formatTime(now),
              ...(previousImage !== undefined && { previousImage }),
            },
          },
          true,
          "UpdateInProgress",
          message,
          now,
        ),
        events: [
          {
            type: "Normal",
            reason: "UpdateStarted",
            message: `${message}${plan.isRequested ? ", as was asked for" : ""}`,
          },
        ],
        requeueAfterMs: soonMs,
      };
    }
    case "Prepare": {
      if (!progress) return { status, events: [] };
      switch (outcome.kind) {
        case "None":
          return { status, events: [], requeueAfterMs: soonMs };
        case "Again": {
          const named = outcome.snapshotName !== undefined && { snapshotName: outcome.snapshotName };
          return {
            status: { ...status, ...saved(outcome), updateProgress: { ...progress, ...named } },
            events: [],
            requeueAfterMs: outcome.afterMs,
          };
        }
        case "Next": {
          const named = outcome.snapshotName !== undefined && { snapshotName: outcome.snapshotName };
          return {
            status: {
              ...status,
              ...saved(outcome),
              updateProgress: { ...progress, ...named, step: outcome.step, stepStartedAt: formatTime(now) },
            },
            events: outcome.events ?? [],
            requeueAfterMs: soonMs,
          };
        }
        case "Failed":
          return failed(server, { ...without, ...saved(outcome) }, progress, false, outcome.message, now);
      }
      return { status, events: [] };
    }
    case "Wait":
      return { status, events: [], requeueAfterMs: plan.lookAgainMs };
    case "Advance":
      return progress
        ? {
            status: { ...status, updateProgress: { ...progress, step: plan.to, stepStartedAt: formatTime(now) } },
            events: [],
            requeueAfterMs: soonMs,
          }
        : { status, events: [] };
    case "RollBack":
      return progress
        ? {
            status: saying(
              server,
              { ...status, updateProgress: { ...progress, step: "rollback", stepStartedAt: formatTime(now) } },
              true,
              "UpdateInProgress",
              plan.message,
              now,
            ),
            events: [
              { type: "Warning", reason: "UpdateFailed", message: `${plan.message}; the previous version is put back` },
            ],
            requeueAfterMs: soonMs,
          }
        : { status, events: [] };
    case "Fail":
      return progress ? failed(server, without, progress, plan.rolledBack, plan.message, now) : { status, events: [] };
    case "Succeed":
      return progress ? succeeded(snapshot, without, progress, now) : { status, events: [] };
  }
}

const saved = ({ backup }: { readonly backup?: Status["backup"] }): Pick<Status, "backup"> =>
  backup ? { backup } : {};

/** The next step follows at once; only what others do is waited for. */
const soonMs = 10;

type Progress = NonNullable<Status["updateProgress"]>;

function succeeded(
  snapshot: UpdateSnapshot,
  { availableUpdate: _, ...status }: Status,
  progress: Progress,
  now: Date,
): UpdateResult {
  const { server } = snapshot;
  const plan = planServer(snapshot);
  const listed = plan.kind === "Run" ? plan.listed : [];
  const message = `Paper ${progress.version} build ${progress.build} runs`;
  return {
    status: saying(
      server,
      {
        ...status,
        currentVersion: progress.version,
        ...(progress.build > 0 && { currentBuild: progress.build }),
        plugins: installedPlugins(status.plugins ?? [], listed),
        lastUpdate: { ...previous(status, progress), successful: true, appliedAt: formatTime(now) },
      },
      false,
      "UpdateComplete",
      message,
      now,
    ),
    events: [{ type: "Normal", reason: "UpdateCompleted", message }],
    ended: "success",
  };
}

function failed(
  server: PaperMCServer,
  status: Status,
  progress: Progress,
  rolledBack: boolean,
  cause: string,
  now: Date,
): UpdateResult {
  const reason = rolledBack ? "UpdateRolledBack" : "UpdateFailed";
  // The newer version may have written to the world what the older one cannot read.
  const isSaved = rolledBack && progress.snapshotName !== undefined;
  const message = isSaved ? `${cause}; the world before it is in VolumeSnapshot ${progress.snapshotName}` : cause;
  return {
    status: saying(
      server,
      {
        ...status,
        lastUpdate: {
          ...previous(status, progress),
          successful: false,
          appliedAt: formatTime(now),
          rolledBack,
          message,
        },
      },
      false,
      reason,
      message,
      now,
    ),
    events: [{ type: "Warning", reason, message }],
    ended: "failure",
  };
}

/** From where to where the update went. */
function previous(status: Status, { version, build, previousImage }: Progress) {
  const before = readImage(previousImage);
  const previousBuild = before?.build ?? status.currentBuild;
  return {
    previousVersion: before?.version ?? status.currentVersion ?? "",
    ...(previousBuild !== undefined && { previousBuild }),
    version,
    build,
  };
}

const saying = (
  { metadata }: PaperMCServer,
  status: Status,
  isTrue: boolean,
  reason: PaperServerReason<"Updating">,
  message: string,
  now: Date,
): Status => ({
  ...status,
  conditions: setCondition(
    status.conditions,
    {
      type: "Updating",
      status: isTrue ? "True" : "False",
      reason,
      message,
      ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    },
    now,
  ),
});
