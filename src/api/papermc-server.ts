/** A Minecraft server that is kept on the newest version that all of its plugins can follow. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import { integer, object, oneOf, optional, string } from "../kube/schema/build.ts";
import { age } from "./columns.ts";
import type { ConditionTypeOf, ReasonOf } from "./condition.ts";
import { goDuration } from "./duration.ts";
import { minecraftGroup, minecraftVersion, pinRules, updateStrategies } from "./minecraft-vocabulary.ts";
import {
  backup,
  gateway,
  gracefulShutdown,
  network,
  rcon,
  service,
  storage,
  updateSchedule,
} from "./papermc-server-spec.ts";
import { paperServerStatus } from "./papermc-server-status.ts";
import { podTemplate } from "./pod-template.ts";

export const paperServerConditions = {
  Ready: ["ReconcileSuccess", "ReconcileError"],
  StatefulSetReady: ["StatefulSetCreated", "StatefulSetNotReady", "StatefulSetReady"],
  UpdateAvailable: ["UpdateFound", "NoUpdate"],
  UpdateBlocked: ["UpdateBlocked", "UpdateUnblocked"],
  // The first is a word of the original operator; here a status is written once, when the answer is there.
  SolverRunning: ["SolverStarted", "SolverCompleted", "SolverFailed"],
  Compatible: ["AllCompatible", "CompatibilityAssumed", "IncompatiblePlugin", "NoPluginsMatched"],
  Updating: ["UpdateInProgress", "UpdateComplete", "UpdateFailed", "UpdateRolledBack"],
  CronScheduleValid: ["CronScheduleConfigured", "InvalidCronExpression", "InvalidTimeZone"],
  BackupCronValid: ["BackupCronScheduleConfigured", "InvalidBackupCronExpression"],
  BackupReady: ["VolumeSnapshotAPIAvailable", "VolumeSnapshotAPIUnavailable", "BackupFailed"],
} as const;
export type PaperServerConditionType = ConditionTypeOf<typeof paperServerConditions>;
export type PaperServerReason<T extends PaperServerConditionType = PaperServerConditionType> = ReasonOf<
  typeof paperServerConditions,
  T
>;

/** The reasons of the events that a server gets. */
export const paperServerEvents = [
  "UpdateAvailable",
  "UpdateBlocked",
  "UpdateStarted",
  "UpdateCompleted",
  "UpdateFailed",
  "UpdateRolledBack",
  "PluginsResolved",
  "PluginDownloaded",
  "PluginIncompatible",
  "NoPluginsMatched",
  "RepositoryUnavailable",
  "BackupCreated",
  "BackupFailed",
] as const;
export type PaperServerEvent = (typeof paperServerEvents)[number];

export const PaperMCServer = defineKind({
  group: minecraftGroup,
  version: minecraftVersion,
  kind: "PaperMCServer",
  plural: "papermcservers",
  shortNames: ["paper"],
  categories: ["capstan"],
  description: "A Minecraft server that runs Paper and is updated together with its plugins.",
  spec: object(
    {
      updateStrategy: oneOf(updateStrategies, {
        description:
          "latest takes the newest version and warns about plugins; auto the newest that all plugins can follow; pin holds a version and follows its builds; build-pin holds both.",
      }),
      version: optional(string({ description: "The version to hold, for pin and build-pin." })),
      build: optional(
        integer({ description: "The build to hold, for build-pin; the lowest acceptable build, for pin." }),
      ),
      updateDelay: optional(goDuration("How old a version must be before it is taken.")),
      updateSchedule,
      gracefulShutdown,
      rcon,
      service: optional(service),
      gateway: optional(gateway),
      backup: optional(backup),
      network: optional(network),
      storage: optional(storage),
      podTemplate: podTemplate("The pod that the server runs in."),
    },
    { description: "Which versions the server may run, when it may be updated, and how it runs.", rules: pinRules },
  ),
  status: paperServerStatus,
  columns: [
    { name: "Version", type: "string", jsonPath: ".status.currentVersion" },
    { name: "Build", type: "integer", jsonPath: ".status.currentBuild" },
    { name: "Status", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Desired", type: "string", jsonPath: ".status.desiredVersion" },
    { name: "Blocked", type: "boolean", jsonPath: ".status.updateBlocked.blocked" },
    age,
    { name: "Strategy", type: "string", jsonPath: ".spec.updateStrategy", priority: 1 },
    { name: "Why", type: "string", jsonPath: ".status.updateBlocked.reason", priority: 1 },
  ],
  conditions: paperServerConditions,
});
export type PaperMCServer = ResourceOf<typeof PaperMCServer>;
