import { Command, Option } from "commander";
import { CapabilityBinding } from "../../api/capability-binding.ts";
import { GameDefinition } from "../../api/game-definition.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { type Catalogue, type ReportedWorld, reportWorld } from "../../controllers/capability-resolver/report.ts";
import { apiVersionOf, type Kind } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { stringifyYaml } from "../../kube/yaml.ts";
import { admit } from "../admit.ts";
import { type ClusterFlags, connectTo, withClusterFlags } from "../cluster.ts";
import { Failure, failClearly } from "../failure.ts";
import { type ManifestObject, readManifests } from "../manifest-files.ts";
import { formatTable } from "../table.ts";

interface ResolveFlags extends ClusterFlags {
  readonly filename: readonly string[];
  readonly output: "table" | "json" | "yaml";
  readonly diff: boolean;
}

/** `capstan resolve`: the resolver's own code on files, or on a cluster with the files laid over it. */
export function resolveCommand(): Command {
  const command = new Command("resolve")
    .description("Show which provider each requirement binds to for the worlds in the files; no cluster needed.")
    .requiredOption("-f, --filename <file...>", "files or folders with manifests, - for standard input")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["table", "json", "yaml"]).default("table"))
    .option("--diff", "show what the files would change for the worlds of a cluster", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 everything required is bound, 2 a required requirement is not.\n\nExamples:\n  capstan resolve -f examples/game-platform\n  capstan resolve --diff -f new-module.yaml\n",
    );
  return withClusterFlags(command).action((flags: ResolveFlags) => failClearly(() => resolve(flags)));
}

async function resolve(flags: ResolveFlags): Promise<void> {
  const files = collect(readManifests(flags.filename));
  const worlds = flags.diff
    ? await overlayCluster(files, flags)
    : files.worlds.map((world) => reportWorld(world, files));
  if (worlds.length === 0) throw new Failure("the files have no WorldInstance to resolve");
  process.stdout.write(flags.diff ? formatDiff(worlds, flags.output) : format(worlds, flags.output));
  if (worlds.some(({ report }) => report.phase === "Error")) process.exitCode = 2;
}

interface Collected extends Catalogue {
  readonly worlds: readonly WorldInstance[];
}

function collect(objects: readonly ManifestObject[], beneath?: Catalogue): Collected {
  const games = indexed<GameDefinition>(objects, GameDefinition);
  const manifests = indexed<ModuleManifest>(objects, ModuleManifest);
  return {
    worlds: [...indexed<WorldInstance>(objects, WorldInstance).values()],
    game: (namespace, name) => games.get(`${namespace}/${name}`) ?? beneath?.game(namespace, name),
    manifest: (namespace, name) => manifests.get(`${namespace}/${name}`) ?? beneath?.manifest(namespace, name),
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

async function overlayCluster(files: Collected, flags: ResolveFlags): Promise<readonly ReportedWorld[]> {
  const { client, close } = await connectTo(flags);
  try {
    const [worlds, games, manifests, bindings] = await Promise.all([
      client.list(WorldInstance),
      client.list(GameDefinition),
      client.list(ModuleManifest),
      client.list(CapabilityBinding),
    ]);
    const key = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
    const inCluster = new Map<string, WorldInstance>(worlds.items.map((world) => [key(world), world]));
    for (const world of files.worlds) {
      const existing = inCluster.get(key(world));
      inCluster.set(
        key(world),
        existing
          ? { ...world, metadata: { ...existing.metadata, ...world.metadata, uid: existing.metadata.uid ?? "" } }
          : world,
      );
    }
    const gamesByKey = new Map(games.items.map((game) => [key(game), game]));
    const manifestsByKey = new Map(manifests.items.map((manifest) => [key(manifest), manifest]));
    const catalogue: Catalogue = {
      game: (namespace, name) => files.game(namespace, name) ?? gamesByKey.get(`${namespace}/${name}`),
      manifest: (namespace, name) => files.manifest(namespace, name) ?? manifestsByKey.get(`${namespace}/${name}`),
    };
    return [...inCluster.values()].map((world) => {
      const own = bindings.items.filter(
        ({ metadata, spec }) =>
          metadata.namespace === world.metadata.namespace && spec.worldRef?.name === world.metadata.name,
      );
      return reportWorld(world, catalogue, own);
    });
  } finally {
    await close();
  }
}

function format(worlds: readonly ReportedWorld[], output: ResolveFlags["output"]): string {
  const reports = worlds.map(({ report }) => report);
  if (output !== "table") return serialize({ worlds: reports }, output);
  const rows = reports.flatMap(({ world, requirements }) =>
    requirements.flatMap(({ consumer, capabilityId, versionConstraint, scope, providers, outcome, dependencyMode }) => {
      const common = [world, consumer, capabilityId, versionConstraint, scope];
      if (providers.length === 0)
        return [[...common, "-", "-", dependencyMode === "required" ? outcome : `${outcome} (optional)`]];
      return providers.map(({ module, version }) => [...common, module, version, "Bound"]);
    }),
  );
  const table = formatTable(
    ["WORLD", "CONSUMER", "CAPABILITY", "CONSTRAINT", "SCOPE", "PROVIDER", "VERSION", "RESULT"],
    rows,
  );
  const notes = reports.map((report) => {
    const remedies = report.requirements.flatMap(({ consumer, capabilityId, remedy }) =>
      remedy ? [`  ${consumer} needs ${capabilityId}: ${remedy}`] : [],
    );
    return [`${report.world}: ${report.phase}: ${report.message}`, ...remedies].join("\n");
  });
  return `${table}\n${notes.join("\n")}\n`;
}

function formatDiff(worlds: readonly ReportedWorld[], output: ResolveFlags["output"]): string {
  const changed = worlds
    .filter(({ plan }) => plan.apply.length + plan.remove.length > 0)
    .map(({ report, plan }) => ({
      namespace: report.namespace,
      world: report.world,
      phase: report.phase,
      message: report.message,
      apply: plan.apply.map(({ metadata, spec }) => ({
        name: metadata.name,
        provider: spec.provider.moduleManifestName,
        version: spec.provider.capabilityVersion,
      })),
      remove: plan.remove.map(({ metadata }) => metadata.name),
    }));
  if (output !== "table") return serialize({ worlds: changed }, output);
  if (changed.length === 0) return "No binding of any world would change.\n";
  return `${changed
    .map(({ namespace, world, phase, message, apply, remove }) =>
      [
        `${namespace}/${world} (${phase}: ${message})`,
        ...apply.map(({ name, provider, version }) => `  + ${name} -> ${provider} ${version}`),
        ...remove.map((name) => `  - ${name}`),
      ].join("\n"),
    )
    .join("\n")}\n`;
}

const serialize = (value: unknown, output: "json" | "yaml"): string =>
  output === "json" ? `${JSON.stringify(value, null, 2)}\n` : stringifyYaml(value);

/** What the API server would refuse is refused here too, with the place in the file. */
function complain<T extends KubeObject>(kind: Kind<T>, object: KubeObject, source: string): T {
  const { object: complete, errors } = admit(kind, object);
  if (errors.length > 0) throw new Failure(`${source}: ${kind.kind} ${object.metadata.name}: ${errors.join("; ")}`);
  return complete as T;
}
