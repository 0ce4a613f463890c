/** A plugin and the servers that it is installed on. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import { array, boolean, dateTime, defaulted, integer, object, oneOf, optional, string } from "../kube/schema/build.ts";
import { age } from "./columns.ts";
import { type ConditionTypeOf, conditions, observedGeneration, type ReasonOf } from "./condition.ts";
import { goDuration } from "./duration.ts";
import { labelSelector } from "./label-selector.ts";
import {
  minecraftGroup,
  minecraftVersion,
  pinRules,
  repositoryStatuses,
  updateStrategies,
} from "./minecraft-vocabulary.ts";

export const pluginSources = ["hangar", "modrinth", "url"] as const;
export type PluginSource = (typeof pluginSources)[number];

export const pluginConditions = {
  Ready: ["ReconcileSuccess", "ReconcileError"],
  RepositoryAvailable: ["Available", "Unavailable", "ChecksumMismatch"],
  VersionResolved: [
    "Resolved",
    "FallbackVersion",
    "HighestPinChosen",
    "NoVersions",
    "ChecksumMismatch",
    "Unavailable",
    "DependencyMissing",
    "DependencyCycle",
    "InvalidSelector",
    "NoServersMatched",
  ],
  Compatible: [
    "AllServersCompatible",
    "CompatibilityAssumed",
    "OverrideApplied",
    "NoCompatibleVersion",
    "IncompatiblePin",
    "NoServersMatched",
  ],
} as const;
export type PluginConditionType = ConditionTypeOf<typeof pluginConditions>;
export type PluginReason<T extends PluginConditionType = PluginConditionType> = ReasonOf<typeof pluginConditions, T>;

/** The reasons of the events that a plugin gets. */
export const pluginEvents = [
  "Resolved",
  "MatchedServers",
  "IncompatibleVersion",
  "RepositoryUnavailable",
  "OverrideApplied",
  "PinConflict",
] as const;
export type PluginEvent = (typeof pluginEvents)[number];

const source = object(
  {
    type: oneOf(pluginSources, { description: "The repository, or url for a jar at a fixed address." }),
    project: optional(
      string({ description: "The project in the repository: Hangar's slug or owner/slug, Modrinth's slug or id." }),
    ),
    url: optional(string({ description: "The address of the jar, for url. It must begin with https://." })),
    checksum: optional(
      string({ description: "The SHA-256 of the jar, as 64 hexadecimal digits.", pattern: "^[a-fA-F0-9]{64}$" }),
    ),
  },
  {
    description: "Where the plugin comes from.",
    rules: [
      {
        rule: "self.type == 'url' || (has(self.project) && size(self.project) > 0)",
        message: "project is required when type is hangar or modrinth",
        fieldPath: ".project",
        reason: "FieldValueRequired",
      },
      {
        rule: "self.type != 'url' || (has(self.url) && size(self.url) > 0)",
        message: "url is required when type is url",
        fieldPath: ".url",
        reason: "FieldValueRequired",
      },
      {
        rule: "self.type != 'url' || !has(self.url) || size(self.url) == 0 || self.url.matches('^https://[^/?#@]+')",
        message: "url must begin with https:// and name a host",
        fieldPath: ".url",
        reason: "FieldValueInvalid",
      },
    ],
  },
);

const availableVersion = object({
  version: string({ description: "The version of the plugin." }),
  minecraftVersions: array(string(), {
    description: "The Minecraft versions that it supports; none means that it is taken to fit all.",
  }),
  downloadURL: string({ description: "Where the jar is." }),
  hash: string({ description: "The SHA-256 of the jar, when known." }),
  cachedAt: dateTime({ description: "When it was first seen." }),
  releasedAt: dateTime({ description: "When it was released." }),
  channel: optional(string({ description: "How settled it is, in the repository's own word." })),
  dependencies: optional(
    array(
      object({
        project: string({ description: "The project that it needs." }),
        required: boolean({ description: "Whether it cannot do without." }),
        version: optional(string({ description: "The version that it needs, when the repository says so." })),
      }),
      { description: "Other plugins that it needs." },
    ),
  ),
});

export const Plugin = defineKind({
  group: minecraftGroup,
  version: minecraftVersion,
  kind: "Plugin",
  plural: "plugins",
  categories: ["capstan"],
  description: "A plugin that is installed, in one version that fits, on every server that its selector matches.",
  spec: object(
    {
      source,
      updateStrategy: defaulted(
        oneOf(updateStrategies, {
          description: "latest and auto take the newest version that fits all servers; pin and build-pin hold one.",
        }),
        "latest",
      ),
      version: optional(string({ description: "The version to hold, for pin and build-pin." })),
      build: optional(integer({ description: "The build to hold, for build-pin." })),
      updateDelay: optional(goDuration("How old a version must be before it is taken.")),
      instanceSelector: labelSelector("The servers of this namespace that get the plugin; {} is all of them."),
      port: optional(
        integer({
          description: "A port that the plugin opens; the server's Service gets it for TCP and UDP.",
          minimum: 1,
          maximum: 65535,
          format: "int32",
        }),
      ),
      compatibilityOverride: optional(
        object(
          {
            enabled: boolean({ description: "Whether the repository's word is ignored." }),
            minecraftVersions: optional(
              array(string(), {
                description: "The versions that count as supported, such as 1.21.4 or 1.21.x; none means all.",
              }),
            ),
          },
          { description: "What the plugin supports in truth, when the repository is wrong." },
        ),
      ),
    },
    { description: "Which plugin, in which versions, on which servers.", rules: pinRules },
  ),
  status: object(
    {
      observedGeneration,
      resolvedVersion: optional(string({ description: "The version that was chosen for all matched servers." })),
      availableVersions: optional(array(availableVersion, { description: "The versions that are known." })),
      matchedInstances: optional(
        array(
          object({
            name: string({ description: "The name of the server." }),
            namespace: string({ description: "The namespace of the server." }),
            version: string({ description: "The version that the server runs." }),
            compatible: boolean({ description: "Whether the plugin fits it." }),
          }),
          { description: "The servers that the selector matches." },
        ),
      ),
      matchedCount: optional(integer({ description: "How many servers the selector matches." })),
      repositoryStatus: optional(
        oneOf(repositoryStatuses, {
          description: "Whether versions could be fetched; orphaned means that the last known ones are used.",
        }),
      ),
      lastFetched: optional(dateTime({ description: "When versions were last fetched." })),
      fetchedFrom: optional(
        string({ description: "The source that the known versions came from, so that a changed source is noticed." }),
      ),
      deletionProgress: optional(
        array(
          object({
            serverName: string({ description: "The server." }),
            namespace: string({ description: "The namespace of the server." }),
            jarDeleted: boolean({ description: "Whether the jar is gone from it." }),
            deletedAt: optional(dateTime({ description: "When the jar was removed." })),
            deletionRequestedAt: optional(dateTime({ description: "When the removal was asked for." })),
          }),
          { description: "How far the removal from each server has come." },
        ),
      ),
      conditions: optional(conditions()),
    },
    { description: "Which version was chosen, and for which servers." },
  ),
  columns: [
    { name: "Source", type: "string", jsonPath: ".spec.source.type" },
    { name: "Version", type: "string", jsonPath: ".status.resolvedVersion" },
    { name: "Matched", type: "integer", jsonPath: ".status.matchedCount" },
    { name: "Status", type: "string", jsonPath: ".status.repositoryStatus" },
    age,
    { name: "Project", type: "string", jsonPath: ".spec.source.project", priority: 1 },
    { name: "Strategy", type: "string", jsonPath: ".spec.updateStrategy", priority: 1 },
  ],
  conditions: pluginConditions,
});
export type Plugin = ResourceOf<typeof Plugin>;
