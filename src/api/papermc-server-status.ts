/** What is known of a server: its versions, plugins, updates and snapshots. */
import {
  array,
  boolean,
  dateTime,
  integer,
  object,
  oneOf,
  optional,
  string,
  type TypeOf,
} from "../kube/schema/build.ts";
import { conditions, observedGeneration } from "./condition.ts";
import { namespacedName, repositoryStatuses } from "./minecraft-vocabulary.ts";

export const backupTriggers = ["scheduled", "before-update", "manual"] as const;
export type BackupTrigger = (typeof backupTriggers)[number];

export const updateSteps = ["backup", "plugins", "shutdown", "restart", "verify", "rollback"] as const;
export type UpdateStep = (typeof updateSteps)[number];

const plugin = object({
  pluginRef: namespacedName("The Plugin."),
  resolvedVersion: string({ description: "The version that fits the server." }),
  currentVersion: optional(string({ description: "The version that is installed." })),
  desiredVersion: optional(string({ description: "The version that will be installed next." })),
  compatible: boolean({ description: "Whether the installed version fits the server." }),
  source: string({ description: "Where the plugin comes from." }),
  pendingDeletion: optional(boolean({ description: "Whether its jar is to be removed." })),
  installedJarName: optional(string({ description: "The jar in the plugins folder." })),
});

const availableUpdate = object(
  {
    version: string({ description: "The version." }),
    build: integer({ description: "The build." }),
    releasedAt: dateTime({ description: "When the build was released." }),
    plugins: array(
      object({
        pluginRef: namespacedName("The Plugin."),
        version: string({ description: "The version that goes with the update." }),
      }),
      { description: "The plugins that are updated with it." },
    ),
    foundAt: dateTime({ description: "When the update was first seen." }),
  },
  { description: "The update that would be applied next." },
);

const lastUpdate = object(
  {
    appliedAt: dateTime({ description: "When it was applied." }),
    previousVersion: string({ description: "The version before it." }),
    successful: boolean({ description: "Whether the server came up with it." }),
    previousBuild: optional(integer({ description: "The build before it." })),
    version: optional(string({ description: "The version that was applied." })),
    build: optional(integer({ description: "The build that was applied." })),
    rolledBack: optional(boolean({ description: "Whether the previous version was put back." })),
    message: optional(string({ description: "What went wrong." })),
  },
  { description: "The last update that was tried." },
);

const updateProgress = object(
  {
    step: oneOf(updateSteps, { description: "What is being done." }),
    version: string({ description: "The version that is being applied." }),
    build: integer({ description: "The build that is being applied." }),
    startedAt: dateTime({ description: "When the update began." }),
    stepStartedAt: optional(dateTime({ description: "When this step began." })),
    snapshotName: optional(string({ description: "The snapshot that was made before it." })),
    previousImage: optional(string({ description: "The image that a rollback puts back." })),
  },
  { description: "The update that is being applied; it survives a restart of the operator." },
);

const updateBlocked = object(
  {
    blocked: boolean({ description: "Whether something keeps the server from a newer version." }),
    reason: optional(string({ description: "What keeps it, in one sentence." })),
    blockedBy: optional(
      object(
        {
          plugin: string({ description: "The Plugin that cannot follow." }),
          version: string({ description: "The version of it that was looked at." }),
          supportedVersions: optional(array(string(), { description: "The Minecraft versions that it supports." })),
        },
        { description: "The plugin that keeps it." },
      ),
    ),
  },
  { description: "Why the server is not updated further." },
);

const availableVersion = object({
  version: string({ description: "The version of Paper." }),
  build: optional(integer({ description: "The newest build of it." })),
  channel: optional(string({ description: "How settled that build is: ALPHA, BETA, STABLE or RECOMMENDED." })),
  releasedAt: optional(dateTime({ description: "When that build was released." })),
  imageAvailable: optional(boolean({ description: "Whether there is an image of it." })),
});

const backup = object(
  {
    backupCount: integer({ description: "How many snapshots there are.", format: "int32" }),
    lastBackup: optional(
      object(
        {
          snapshotName: optional(string({ description: "The VolumeSnapshot." })),
          startedAt: dateTime({ description: "When it began." }),
          completedAt: optional(dateTime({ description: "When the snapshot was ready to use." })),
          successful: boolean({ description: "Whether it succeeded." }),
          trigger: oneOf(backupTriggers, { description: "What it was made for." }),
          message: optional(string({ description: "What went wrong." })),
        },
        { description: "The last snapshot that was tried." },
      ),
    ),
  },
  { description: "Snapshots of the world." },
);

export const paperServerStatus = object(
  {
    observedGeneration,
    currentVersion: optional(string({ description: "The version that runs." })),
    currentBuild: optional(integer({ description: "The build that runs." })),
    desiredVersion: optional(string({ description: "The version that was chosen." })),
    desiredBuild: optional(integer({ description: "The build that was chosen." })),
    plugins: optional(array(plugin, { description: "The plugins that match this server." })),
    availableUpdate: optional(availableUpdate),
    lastUpdate: optional(lastUpdate),
    updateProgress: optional(updateProgress),
    updateBlocked: optional(updateBlocked),
    availableVersions: optional(
      array(availableVersion, { description: "The versions of Paper that are known, newest first." }),
    ),
    repositoryStatus: optional(
      oneOf(repositoryStatuses, {
        description: "Whether versions could be fetched; orphaned means that the last known ones are used.",
      }),
    ),
    lastFetched: optional(dateTime({ description: "When versions were last fetched." })),
    backup: optional(backup),
    conditions: optional(conditions()),
  },
  { description: "What runs, what could run, and what keeps it from running." },
);
export type PaperServerStatus = TypeOf<typeof paperServerStatus>;
