import { Command } from "commander";
import { CapabilityBinding } from "../../api/capability-binding.ts";
import { GameDefinition } from "../../api/game-definition.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import {
  type Catalogue,
  type ReportedWorld,
  reportWorld,
  type WorldReport,
} from "../../controllers/capability-resolver/report.ts";
import { type BindingChange, changeOf, type WorldChange } from "../../controllers/capability-resolver/world-change.ts";
import { apiVersionOf, type Kind } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { admit } from "../admit.ts";
import { type ClusterFlags, connectTo, withClusterFlags } from "../cluster.ts";
import { Failure, failClearly } from "../failure.ts";
import { type ManifestObject, readManifests } from "../manifest-files.ts";
import { type Answer, type OutputFormat, outputOption, render } from "../output.ts";
import { formatTable } from "../table.ts";

interface ResolveFlags extends ClusterFlags {
  readonly filename: readonly string[];
  readonly output: OutputFormat;
  readonly diff: boolean;
}

/** `capstan resolve`: the resolver's own code on files, or on a cluster with the files laid over it. */
export function resolveCommand(): Command {
  const command = new Command("resolve")
    .description("Show which provider each requirement binds to for the worlds in the files; no cluster needed.")
    .requiredOption("-f, --filename <file...>", "files or folders with manifests, - for standard input")
    .addOption(outputOption())
    .option("--diff", "show what the files would change for the worlds of a cluster", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 everything required is bound, 2 a required requirement is not; with --diff only worlds that would change count.\n\nExamples:\n  capstan resolve -f examples/game-platform\n  capstan resolve --diff -f new-module.yaml\n",
    );
  return withClusterFlags(command).action((flags: ResolveFlags) => failClearly(() => resolve(flags)));
}

async function resolve(flags: ResolveFlags): Promise<void> {
  const files = collect(readManifests(flags.filename));
  if (flags.diff) {
    const changes = await changesOf(files, flags);
    process.stdout.write(render(answerOfChanges(changes), flags.output));
    if (changes.some(({ phase }) => phase === "Error")) process.exitCode = 2;
    return;
  }
  const worlds = files.worlds.map((world) => reportWorld(world, files));
  if (worlds.length === 0) throw new Failure("the files have no WorldInstance to resolve");
  process.stdout.write(render(answerOf(worlds), flags.output));
  if (worlds.some(({ report }) => report.phase === "Error")) process.exitCode = 2;
}

interface Collected extends Catalogue {
  readonly worlds: readonly WorldInstance[];
}

function collect(objects: readonly ManifestObject[]): Collected {
  const games = indexed<GameDefinition>(objects, GameDefinition);
  const manifests = indexed<ModuleManifest>(objects, ModuleManifest);
  return {
    worlds: [...indexed<WorldInstance>(objects, WorldInstance).values()],
    game: (namespace, name) => games.get(`${namespace}/${name}`),
    manifest: (namespace, name) => manifests.get(`${namespace}/${name}`),
  };
}

/** Files carry no namespace or uid when they were never applied; kubectl would use `default`. */
function indexed<T extends KubeObject>(objects: readonly ManifestObject[], kind: Kind<T>): Map<string, T> {
  const ofKind = objects.filter(({ object }) => object.kind === kind.kind && object.apiVersion === apiVersionOf(kind));
  return new Map(
    ofKind.map(({ object, source }) => {
      const complete = complain(kind, object, source);
      const namespace = complete.metadata.namespace ?? "default";
      const uid = complete.metadata.uid ?? `file:${namespace}/${complete.metadata.name}`;
      return [
        `${namespace}/${complete.metadata.name}`,
        { ...complete, metadata: { ...complete.metadata, namespace, uid } },
      ];
    }),
  );
}

/** The worlds of a cluster as they are, and as they would be with the files laid over it. */
async function changesOf(files: Collected, flags: ResolveFlags): Promise<readonly WorldChange[]> {
  const { client, close } = await connectTo(flags);
  try {
    const [worlds, games, manifests, bindings] = await Promise.all([
      client.list(WorldInstance),
      client.list(GameDefinition),
      client.list(ModuleManifest),
      client.list(CapabilityBinding),
    ]);
    const cluster: Catalogue = {
      game: lookUp(games.items),
      manifest: lookUp(manifests.items),
    };
    const overlaid: Catalogue = {
      game: (namespace, name) => files.game(namespace, name) ?? cluster.game(namespace, name),
      manifest: (namespace, name) => files.manifest(namespace, name) ?? cluster.manifest(namespace, name),
    };
    const now = new Map(worlds.items.map((world) => [keyOf(world), world]));
    const later = new Map(now);
    for (const world of files.worlds) later.set(keyOf(world), laidOver(now.get(keyOf(world)), world));
    return [...later].flatMap(([key, world]) => {
      const old = now.get(key);
      const { namespace } = world.metadata;
      const inNamespace = bindings.items.filter(({ metadata }) => metadata.namespace === namespace);
      const own = inNamespace.filter(({ spec }) => spec.worldRef?.name === world.metadata.name);
      const before = old && reportWorld(old, cluster, own);
      return changeOf(before, reportWorld(world, overlaid, own, inNamespace), own) ?? [];
    });
  } finally {
    await close();
  }
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

function lookUp<T extends KubeObject>(objects: readonly T[]): (namespace: string, name: string) => T | undefined {
  const byKey = new Map(objects.map((object) => [keyOf(object), object]));
  return (namespace, name) => byKey.get(`${namespace}/${name}`);
}

/** A file says nothing of the uid that a world's bindings point to. */
const laidOver = (existing: WorldInstance | undefined, world: WorldInstance): WorldInstance =>
  existing
    ? { ...world, metadata: { ...existing.metadata, ...world.metadata, uid: existing.metadata.uid ?? "" } }
    : world;

const answerOf = (worlds: readonly ReportedWorld[]): Answer => ({
  value: { worlds: worlds.map(withBindings) },
  names: worlds.flatMap(({ plan }) => plan.apply.map(({ metadata }) => bindingName(metadata.name))),
  table: (isWide) =>
    tableOf(
      worlds.map(({ report }) => report),
      isWide,
    ),
});

const bindingName = (name: string): string => `${CapabilityBinding.singular}.${CapabilityBinding.group}/${name}`;

function tableOf(reports: readonly WorldReport[], isWide: boolean): string {
  const rows = reports.flatMap(({ namespace, world, requirements }) =>
    requirements.flatMap((requirement) => {
      const { consumer, capabilityId, versionConstraint, scope, providers, outcome, dependencyMode } = requirement;
      const common = [...(isWide ? [namespace] : []), world, consumer, capabilityId, versionConstraint, scope];
      const more = isWide ? [dependencyMode, requirement.reason ?? ""] : [];
      if (providers.length === 0)
        return [[...common, "-", "-", dependencyMode === "required" ? outcome : `${outcome} (optional)`, ...more]];
      return providers.map(({ module, version }) => [...common, module, version, "Bound", ...more]);
    }),
  );
  const header = ["WORLD", "CONSUMER", "CAPABILITY", "CONSTRAINT", "SCOPE", "PROVIDER", "VERSION", "RESULT"];
  const table = formatTable(isWide ? ["NAMESPACE", ...header, "MODE", "WHY"] : header, rows);
  const notes = reports.map((report) => {
    const remedies = report.requirements.flatMap(({ consumer, capabilityId, remedy }) =>
      remedy ? [`  ${consumer} needs ${capabilityId}: ${remedy}`] : [],
    );
    return [`${report.world}: ${report.phase}: ${report.message}`, ...remedies].join("\n");
  });
  return `${table}\n${notes.join("\n")}\n`;
}

/** The bindings as they would be written; who owns them is known only in a cluster. */
const withBindings = ({ report, plan }: ReportedWorld): WorldReport & { readonly bindings: readonly unknown[] } => ({
  ...report,
  bindings: plan.apply.map(({ metadata: { ownerReferences: _, ...metadata }, spec, ...type }) => ({
    ...type,
    metadata,
    spec,
  })),
});

const answerOfChanges = (changes: readonly WorldChange[]): Answer => ({
  value: { worlds: changes },
  names: changes.flatMap(({ apply }) => apply.map(({ name }) => bindingName(name))),
  table: () => formatChanges(changes),
});

function formatChanges(changes: readonly WorldChange[]): string {
  if (changes.length === 0) return "No world would change.\n";
  return `${changes
    .map(({ namespace, world, phaseBefore = "new", phase, message, apply, remove }) =>
      [
        `${namespace}/${world}: ${phaseBefore === phase ? phase : `${phaseBefore} -> ${phase}`}: ${message}`,
        ...apply.map(formatBindingChange),
        ...remove.map((name) => `  - ${name}`),
      ].join("\n"),
    )
    .join("\n")}\n`;
}

function formatBindingChange({ name, provider, version, providerBefore, versionBefore }: BindingChange): string {
  const after = `${provider} ${version}`;
  return providerBefore === undefined
    ? `  + ${name}: ${after}`
    : `  ~ ${name}: ${providerBefore} ${versionBefore} -> ${after}`;
}

/** What the API server would refuse is refused here too, with the place in the file. */
function complain<T extends KubeObject>(kind: Kind<T>, object: KubeObject, source: string): T {
  const { object: complete, errors } = admit(kind, object);
  if (errors.length > 0) throw new Failure(`${source}: ${kind.kind} ${object.metadata.name}: ${errors.join("; ")}`);
  return complete as T;
}
