import { Argument, Command, Option } from "commander";
import { CapabilityBinding } from "../../api/capability-binding.ts";
import { GameDefinition } from "../../api/game-definition.ts";
import { kinds } from "../../api/kinds.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { type RequirementReport, reportWorld, type WorldReport } from "../../controllers/capability-resolver/report.ts";
import type { Condition } from "../../kube/condition.ts";
import type { Kind } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { stringifyYaml } from "../../kube/yaml.ts";
import { type ClusterFlags, connectTo, withClusterFlags } from "../cluster.ts";
import { Failure, failClearly } from "../failure.ts";
import { eventsOf, type ObjectEvent } from "../object-events.ts";

interface ExplainFlags extends ClusterFlags {
  readonly namespace?: string;
  readonly output: "text" | "json" | "yaml";
}

/** `capstan explain KIND NAME`: why an object is in the state that it is in. */
export function explainCommand(): Command {
  const command = new Command("explain")
    .description(
      "Tell why an object is in the state that it is in: its conditions, its events, and what would change it.",
    )
    .addArgument(new Argument("<kind>", "a kind, its plural or a short name, such as world"))
    .addArgument(new Argument("<name>", "the object's name"))
    .option("-n, --namespace <namespace>", "the object's namespace")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json", "yaml"]).default("text"))
    .addHelpText("after", "\nExample:\n  capstan explain world stormy-world -n anvil-demo\n");
  return withClusterFlags(command).action((kind: string, name: string, flags: ExplainFlags) =>
    failClearly(() => explain(kind, name, flags)),
  );
}

async function explain(kindName: string, name: string, flags: ExplainFlags): Promise<void> {
  const kind = findByName(kindName);
  const { client, close, namespace } = await connectTo(flags);
  try {
    const key = kind.namespaced ? { namespace: flags.namespace ?? namespace, name } : { name };
    const object = (await client.get(kind, key).catch((error: unknown) => {
      if (isNotFound(error))
        throw new Failure(`there is no ${kind.kind} ${name}${kind.namespaced ? ` in namespace ${key.namespace}` : ""}`);
      throw error;
    })) as ExplainedObject;
    const story: Story = {
      kind: kind.kind,
      name,
      ...(key.namespace !== undefined && { namespace: key.namespace }),
      phase: object.status?.phase ?? "Unknown",
      message: object.status?.message ?? "",
      conditions: object.status?.conditions ?? [],
      events: await eventsOf(client, object),
      ...(kind === (WorldInstance as Kind) && {
        resolution: await resolutionOf(client, object as unknown as WorldInstance),
      }),
    };
    process.stdout.write(format(story, flags.output));
  } finally {
    await close();
  }
}

interface ExplainedObject extends KubeObject {
  readonly status?: { readonly phase?: string; readonly message?: string; readonly conditions?: readonly Condition[] };
}

interface Story {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly phase: string;
  readonly message: string;
  readonly conditions: readonly Condition[];
  readonly events: readonly ObjectEvent[];
  readonly resolution?: WorldReport;
}

function findByName(name: string): Kind {
  const wanted = name.toLowerCase();
  const found = kinds.find(({ kind, plural, singular, shortNames }) =>
    [kind.toLowerCase(), plural, singular, ...shortNames].includes(wanted),
  );
  if (found) return found;
  throw new Failure(
    `capstan explain knows no kind ${name}; it knows ${kinds
      .map(({ singular }) => singular)
      .sort()
      .join(", ")}`,
  );
}

async function resolutionOf(client: Client, world: WorldInstance): Promise<WorldReport> {
  const { namespace = "" } = world.metadata;
  const [games, manifests, bindings] = await Promise.all([
    client.list(GameDefinition, { namespace }),
    client.list(ModuleManifest, { namespace }),
    client.list(CapabilityBinding, { namespace }),
  ]);
  const catalogue = {
    game: (_: string, name: string) => games.items.find(({ metadata }) => metadata.name === name),
    manifest: (_: string, name: string) => manifests.items.find(({ metadata }) => metadata.name === name),
  };
  const own = bindings.items.filter(({ spec }) => spec.worldRef?.name === world.metadata.name);
  return reportWorld(world, catalogue, own).report;
}

function format(story: Story, output: ExplainFlags["output"]): string {
  if (output === "json") return `${JSON.stringify(story, null, 2)}\n`;
  if (output === "yaml") return stringifyYaml(story);
  const lines = [`${story.kind} ${story.namespace ? `${story.namespace}/` : ""}${story.name}: ${story.phase}`];
  if (story.message) lines.push(`  ${story.message}`);
  for (const { type, status, reason, message } of story.conditions)
    lines.push(`  ${type}=${status} (${reason}) ${message}`);
  if (story.resolution) lines.push("", "Requirements:", ...story.resolution.requirements.flatMap(formatRequirement));
  if (story.events.length > 0) lines.push("", "What happened:", ...story.events.map(formatEvent));
  return `${lines.join("\n")}\n`;
}

function formatRequirement(requirement: RequirementReport): string[] {
  const { consumer, capabilityId, versionConstraint, scope, dependencyMode, providers, reason, remedy, refused } =
    requirement;
  const result =
    providers.length > 0 ? providers.map(({ module, version }) => `${module} ${version}`).join(", ") : "nothing";
  return [
    `  ${consumer} needs ${capabilityId} ${versionConstraint} in scope ${scope} (${dependencyMode}): ${result}`,
    ...refused.map(({ module, version, objection }) => `    not ${module} ${version}: it ${objection}`),
    ...(reason ? [`    why: ${reason}`] : []),
    ...(remedy ? [`    to mend it: ${remedy}`] : []),
  ];
}

const formatEvent = ({ time, type, reason, message, count }: ObjectEvent): string =>
  `  ${time}  ${type.padEnd(7)}  ${reason}${count > 1 ? ` (${count} times)` : ""}: ${message}`;
