/** The original operator's API, field by field: what its manifests, clients and dashboards rely on is still there. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Kind } from "../kube/kind.ts";
import type { Schema } from "../kube/schema/schema.ts";
import { PaperMCServer, paperServerConditions } from "./papermc-server.ts";
import { Plugin, pluginConditions } from "./plugin.ts";
import { annotations, finalizers, labels } from "./well-known.ts";

/** A field that must be given ends in `!`; the words behind the type are checked one by one. */
type Fields = Readonly<Record<string, string>>;

const cidr = "pattern=^([0-9]{1,3}\\.){3}[0-9]{1,3}/[0-9]{1,2}$";
const strategies = "enum=latest|auto|pin|build-pin";

const serverFields: Fields = {
  "spec!": "object",
  "spec.updateStrategy!": `string ${strategies}`,
  "spec.version": "string",
  "spec.build": "integer",
  "spec.updateDelay": "string",
  "spec.updateSchedule!": "object",
  "spec.updateSchedule.checkCron!": "string",
  "spec.updateSchedule.maintenanceWindow!": "object",
  "spec.updateSchedule.maintenanceWindow.cron!": "string",
  "spec.updateSchedule.maintenanceWindow.enabled!": "boolean",
  "spec.gracefulShutdown!": "object",
  "spec.gracefulShutdown.timeout!": "string",
  "spec.rcon!": "object",
  "spec.rcon.enabled!": "boolean",
  "spec.rcon.passwordSecret!": "object",
  "spec.rcon.passwordSecret.name!": "string",
  "spec.rcon.passwordSecret.key!": "string",
  "spec.rcon.port": "integer default=25575 format=int32",
  "spec.service": "object",
  "spec.service.type": "string enum=LoadBalancer|NodePort|ClusterIP default=LoadBalancer",
  "spec.service.annotations": "object",
  "spec.service.loadBalancerIP": "string",
  "spec.gateway": "object",
  "spec.gateway.enabled!": "boolean",
  "spec.gateway.parentRefs": "array",
  "spec.gateway.parentRefs.name!": "string",
  "spec.gateway.parentRefs.namespace": "string",
  "spec.gateway.parentRefs.sectionName": "string",
  "spec.gateway.tcpRoute": "object",
  "spec.gateway.tcpRoute.enabled!": "boolean",
  "spec.gateway.udpRoute": "object",
  "spec.gateway.udpRoute.enabled!": "boolean",
  "spec.backup": "object",
  "spec.backup.enabled!": "boolean",
  "spec.backup.schedule": "string",
  "spec.backup.beforeUpdate": "boolean default=true",
  "spec.backup.volumeSnapshotClassName": "string",
  "spec.backup.retention": "object",
  "spec.backup.retention.maxCount": "integer default=10 minimum=1 format=int32",
  "spec.network": "object",
  "spec.network.networkPolicy": "object",
  "spec.network.networkPolicy.enabled!": "boolean",
  "spec.network.networkPolicy.allowFrom": "array",
  "spec.network.networkPolicy.allowFrom.cidr": `string ${cidr}`,
  "spec.network.networkPolicy.allowFrom.podSelector": "object x-kubernetes-map-type=atomic",
  "spec.network.networkPolicy.allowFrom.namespaceSelector": "object x-kubernetes-map-type=atomic",
  "spec.network.networkPolicy.restrictEgress": "boolean default=true",
  "spec.network.networkPolicy.allowEgressTo": "array",
  "spec.network.networkPolicy.allowEgressTo.cidr": `string ${cidr}`,
  "spec.network.networkPolicy.allowEgressTo.port": "integer minimum=1 maximum=65535 format=int32",
  "spec.network.networkPolicy.allowEgressTo.protocol": "string enum=TCP|UDP",
  "spec.podTemplate!": "object",
  "status.currentVersion": "string",
  "status.currentBuild": "integer",
  "status.desiredVersion": "string",
  "status.desiredBuild": "integer",
  "status.plugins": "array",
  "status.plugins.pluginRef!": "object",
  "status.plugins.pluginRef.name!": "string",
  "status.plugins.pluginRef.namespace!": "string",
  "status.plugins.resolvedVersion!": "string",
  "status.plugins.currentVersion": "string",
  "status.plugins.desiredVersion": "string",
  "status.plugins.compatible!": "boolean",
  "status.plugins.source!": "string",
  "status.plugins.pendingDeletion": "boolean",
  "status.plugins.installedJarName": "string",
  "status.availableUpdate": "object",
  "status.availableUpdate.version!": "string",
  "status.availableUpdate.build!": "integer",
  "status.availableUpdate.releasedAt!": "string format=date-time",
  "status.availableUpdate.plugins!": "array",
  "status.availableUpdate.plugins.pluginRef!": "object",
  "status.availableUpdate.plugins.version!": "string",
  "status.availableUpdate.foundAt!": "string format=date-time",
  "status.lastUpdate": "object",
  "status.lastUpdate.appliedAt!": "string format=date-time",
  "status.lastUpdate.previousVersion!": "string",
  "status.lastUpdate.successful!": "boolean",
  "status.updateBlocked": "object",
  "status.updateBlocked.blocked!": "boolean",
  "status.updateBlocked.reason": "string",
  "status.updateBlocked.blockedBy": "object",
  "status.updateBlocked.blockedBy.plugin!": "string",
  "status.updateBlocked.blockedBy.version!": "string",
  "status.updateBlocked.blockedBy.supportedVersions": "array",
  "status.backup": "object",
  "status.backup.backupCount!": "integer format=int32",
  "status.backup.lastBackup": "object",
  "status.backup.lastBackup.snapshotName": "string",
  "status.backup.lastBackup.startedAt!": "string format=date-time",
  "status.backup.lastBackup.completedAt": "string format=date-time",
  "status.backup.lastBackup.successful!": "boolean",
  "status.backup.lastBackup.trigger!": "string",
  "status.conditions": "array x-kubernetes-list-type=map x-kubernetes-list-map-keys=type",
};

const pluginFields: Fields = {
  "spec!": "object",
  "spec.source!": "object",
  "spec.source.type!": "string",
  "spec.source.project": "string",
  "spec.source.url": "string",
  "spec.source.checksum": "string pattern=^[a-fA-F0-9]{64}$",
  "spec.updateStrategy": `string ${strategies} default=latest`,
  "spec.version": "string",
  "spec.build": "integer",
  "spec.updateDelay": "string",
  "spec.instanceSelector!": "object x-kubernetes-map-type=atomic",
  "spec.instanceSelector.matchLabels": "object",
  "spec.instanceSelector.matchExpressions": "array",
  "spec.port": "integer minimum=1 maximum=65535 format=int32",
  "spec.compatibilityOverride": "object",
  "spec.compatibilityOverride.enabled!": "boolean",
  "spec.compatibilityOverride.minecraftVersions": "array",
  "status.availableVersions": "array",
  "status.availableVersions.version!": "string",
  "status.availableVersions.minecraftVersions!": "array",
  "status.availableVersions.downloadURL!": "string",
  "status.availableVersions.hash!": "string",
  "status.availableVersions.cachedAt!": "string format=date-time",
  "status.availableVersions.releasedAt!": "string format=date-time",
  "status.matchedInstances": "array",
  "status.matchedInstances.name!": "string",
  "status.matchedInstances.namespace!": "string",
  "status.matchedInstances.version!": "string",
  "status.matchedInstances.compatible!": "boolean",
  "status.repositoryStatus": "string enum=available|unavailable|orphaned",
  "status.lastFetched": "string format=date-time",
  "status.deletionProgress": "array",
  "status.deletionProgress.serverName!": "string",
  "status.deletionProgress.namespace!": "string",
  "status.deletionProgress.jarDeleted!": "boolean",
  "status.deletionProgress.deletedAt": "string format=date-time",
  "status.deletionProgress.deletionRequestedAt": "string format=date-time",
  "status.conditions": "array x-kubernetes-list-type=map x-kubernetes-list-map-keys=type",
};

describe("the original operator's API:", () => {
  for (const [kind, fields] of [
    [PaperMCServer, serverFields],
    [Plugin, pluginFields],
  ] as const)
    for (const [field, expected] of Object.entries(fields))
      test(`${kind.kind} ${field} is ${expected}`, () => {
        const path = field.replace("!", "").split(".");
        const found = path.reduce<Schema | undefined>((at, name) => at && inner(at).properties?.[name], kind.schema);
        assert.ok(found);
        const parent = path
          .slice(0, -1)
          .reduce<Schema>((at, name) => inner(inner(at).properties?.[name] ?? {}), kind.schema);
        assert.equal(
          (parent.required ?? []).includes(path.at(-1) ?? ""),
          field.endsWith("!"),
          "whether it must be given",
        );
        const [type, ...words] = expected.split(" ");
        assert.equal(found.type, type);
        for (const word of words) {
          const [name = "", ...rest] = word.split("=");
          const value: unknown = (found as Readonly<Record<string, unknown>>)[name];
          assert.equal(Array.isArray(value) ? value.join("|") : String(value), rest.join("="), name);
        }
      });

  test("a default is only where it was, or where a field is new", () => {
    const defaults = [PaperMCServer, Plugin].flatMap((kind) => defaultsOf(kind));
    assert.deepEqual(defaults, [
      "PaperMCServer.spec.updateSchedule.timeZone=UTC",
      "PaperMCServer.spec.updateSchedule.maintenanceWindow.duration=1h",
      "PaperMCServer.spec.rcon.port=25575",
      "PaperMCServer.spec.service.type=LoadBalancer",
      "PaperMCServer.spec.backup.beforeUpdate=true",
      "PaperMCServer.spec.backup.retention.maxCount=10",
      "PaperMCServer.spec.network.networkPolicy.restrictEgress=true",
      "PaperMCServer.spec.storage.size=10Gi",
      "Plugin.spec.updateStrategy=latest",
    ]);
  });

  test("nothing must be given that was not asked for before", () => {
    for (const [kind, fields] of [
      [PaperMCServer, serverFields],
      [Plugin, pluginFields],
    ] as const)
      for (const path of requiredOf(inner(kind.schema).properties?.["spec"] ?? {}, "spec"))
        assert.ok(`${path}!` in fields || isInNew(path), `${kind.kind} ${path}`);
  });

  test("conditions keep their types and reasons", () => {
    const server: Readonly<Record<string, readonly string[]>> = paperServerConditions;
    const plugin: Readonly<Record<string, readonly string[]>> = pluginConditions;
    for (const [of, type, reasons] of [
      [server, "Ready", ["ReconcileSuccess", "ReconcileError"]],
      [server, "StatefulSetReady", ["StatefulSetCreated", "StatefulSetNotReady", "StatefulSetReady"]],
      [server, "UpdateAvailable", ["UpdateFound", "NoUpdate"]],
      [server, "UpdateBlocked", ["UpdateBlocked", "UpdateUnblocked"]],
      [server, "SolverRunning", ["SolverStarted", "SolverCompleted", "SolverFailed"]],
      [server, "Updating", ["UpdateInProgress", "UpdateComplete"]],
      [server, "CronScheduleValid", ["InvalidCronExpression", "CronScheduleConfigured"]],
      [server, "BackupCronValid", ["InvalidBackupCronExpression", "BackupCronScheduleConfigured"]],
      [server, "BackupReady", ["VolumeSnapshotAPIUnavailable", "VolumeSnapshotAPIAvailable"]],
      [plugin, "Ready", ["ReconcileSuccess", "ReconcileError"]],
      [plugin, "RepositoryAvailable", ["Available", "Unavailable", "ChecksumMismatch"]],
      [plugin, "VersionResolved", ["Resolved", "FallbackVersion", "ChecksumMismatch", "Unavailable"]],
    ] as const)
      for (const reason of reasons) assert.ok(of[type]?.includes(reason), `${type} ${reason}`);
  });

  test("group, version, plurals and well-known names stay", () => {
    for (const { group, version, namespaced } of [PaperMCServer, Plugin])
      assert.deepEqual([group, version, namespaced], ["mc.k8s.lex.la", "v1beta1", true]);
    assert.deepEqual([PaperMCServer.plural, PaperMCServer.singular], ["papermcservers", "papermcserver"]);
    assert.deepEqual([Plugin.plural, Plugin.singular], ["plugins", "plugin"]);
    assert.equal(finalizers.plugin, "mc.k8s.lex.la/plugin-cleanup");
    assert.deepEqual(
      [annotations.applyNow, annotations.backupNow],
      ["mc.k8s.lex.la/apply-now", "mc.k8s.lex.la/backup-now"],
    );
    assert.deepEqual(
      [labels.minecraftServer, labels.backupTrigger],
      ["mc.k8s.lex.la/server-name", "mc.k8s.lex.la/backup-trigger"],
    );
  });

  test("the columns that its documents show are there, in their order", () => {
    const named = ({ columns }: Kind): readonly string[] => columns.map(({ name }) => name.toUpperCase());
    assert.deepEqual(named(PaperMCServer).slice(0, 3), ["VERSION", "BUILD", "STATUS"]);
    assert.deepEqual(named(Plugin).slice(0, 4), ["SOURCE", "VERSION", "MATCHED", "STATUS"]);
  });
});

function inner(schema: Schema): Schema {
  return schema.items ? inner(schema.items) : schema;
}

function defaultsOf(kind: Kind): readonly string[] {
  const walk = (schema: Schema, path: string): readonly string[] =>
    Object.entries(inner(schema).properties ?? {}).flatMap(([name, field]) => [
      ...(field.default === undefined ? [] : [`${path}.${name}=${String(field.default)}`]),
      ...walk(field, `${path}.${name}`),
    ]);
  return walk(inner(kind.schema).properties?.["spec"] ?? {}, `${kind.kind}.spec`);
}

/** Fields that must be given wherever what they stand in is given. */
function requiredOf(schema: Schema, path: string): readonly string[] {
  const { required = [], properties = {} } = inner(schema);
  return [
    ...required.map((name) => `${path}.${name}`),
    ...Object.entries(properties).flatMap(([name, field]) => requiredOf(field, `${path}.${name}`)),
  ];
}

/** A selector's and a pod's own fields are Kubernetes', and storage is new. */
const isInNew = (path: string): boolean =>
  /Selector\.matchExpressions\.|^spec\.podTemplate\.|^spec\.storage\./.test(path);
