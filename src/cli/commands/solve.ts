import { Command, InvalidArgumentError, Option } from "commander";
import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { namespacesOf } from "../../controllers/version-solver/fleet.ts";
import type { Remedy } from "../../controllers/version-solver/remedies.ts";
import { type FleetReport, reportFleet, type ServerReport } from "../../controllers/version-solver/report.ts";
import {
  applyWhatIf,
  formatWhatIf,
  type Objects,
  parseWhatIf,
  type WhatIf,
} from "../../controllers/version-solver/what-if.ts";
import { systemEnv } from "../../env/system.ts";
import { parseDurationMs } from "../../kube/duration.ts";
import { apiVersionOf, type Kind } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { parseTime } from "../../kube/time.ts";
import { admit } from "../admit.ts";
import { Failure, failClearly } from "../failure.ts";
import { type ManifestObject, readManifests } from "../manifest-files.ts";
import { type Answer, type OutputFormat, outputOption, render } from "../output.ts";
import { type ProgressStream, showProgress } from "../progress.ts";
import { formatTable } from "../table.ts";

interface SolveFlags {
  readonly filename: readonly string[];
  readonly output: OutputFormat;
  readonly whatIf: readonly WhatIf[];
  readonly now?: Date;
  readonly timeLimit: number;
}

/** Where it is printed; `process` is one. */
export interface Output {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: ProgressStream;
}

/** `capstan solve`: the newest versions that can run together, from files alone, and why none is newer. */
export function solveCommand(output: Output = process): Command {
  return new Command("solve")
    .description("Show which versions the servers and plugins in the files would get, and why none is newer.")
    .requiredOption(
      "-f, --filename <file...>",
      "files or folders with manifests and their status, - for standard input",
    )
    .addOption(outputOption())
    .addOption(
      new Option(
        "--what-if <change>",
        "a change to try, again for more: drop:plugin/NAME, pin:server/NAME=VERSION, unpin:…, undelay:…",
      )
        .argParser(collectChanges)
        .default([], "none"),
    )
    .option("--now <time>", "the time from which updateDelay counts back, such as 2026-01-15T00:00:00Z", readTime)
    .addOption(
      new Option("--time-limit <duration>", "when to give the best answer so far")
        .argParser(readDuration)
        .default(30_000, "30s"),
    )
    .addHelpText(
      "after",
      "\nExit codes: 0 nothing stands in the way of a newer version, 2 a plugin does, or a plugin fits nowhere.\n\nExamples:\n  capstan solve -f examples/minecraft/offline/scenario.yaml\n  capstan solve -f fleet.yaml --what-if drop:plugin/old-plugin\n  kubectl get papermcservers,plugins -o yaml | capstan solve -f -\n",
    )
    .action((flags: SolveFlags) => failClearly(() => solve(flags, output)));
}

async function solve(flags: SolveFlags, { stdout, stderr }: Output): Promise<void> {
  const manifests = readManifests(flags.filename);
  const servers = ofKind<PaperMCServer>(manifests, PaperMCServer);
  const plugins = ofKind<Plugin>(manifests, Plugin);
  if (servers.length === 0) throw new Failure("the files have no PaperMCServer to solve for");
  const changed = flags.whatIf.reduce(apply, { servers, plugins });
  const progress = showProgress(systemEnv, stderr, `solving ${servers.length} servers and ${plugins.length} plugins`);
  try {
    const before = await reportAll({ servers, plugins }, flags);
    const after = flags.whatIf.length > 0 ? await reportAll(changed, flags) : before;
    progress.end();
    stdout.write(render(answerOf(before, after, flags.whatIf), flags.output));
    if (isForPeople(flags.output) && !servers.some(isKnown)) stdout.write(hint);
    if (after.some(isBlocked)) process.exitCode = 2;
  } finally {
    progress.end();
  }
}

const isKnown = ({ status }: PaperMCServer): boolean =>
  status?.currentVersion !== undefined || (status?.availableVersions ?? []).length > 0;

/** Manifests as people write them have no status, and it is there that the known versions stand. */
const hint = `
The servers in the files have no status, which is where the known versions stand. Take them from where they run:
  kubectl get papermcservers,plugins -o yaml | capstan solve -f -
`;

function apply(objects: Objects, change: WhatIf): Objects {
  const applied = applyWhatIf(objects, change);
  if (!applied.ok) throw new Failure(applied.message);
  return applied.value;
}

async function reportAll({ servers, plugins }: Objects, flags: SolveFlags): Promise<readonly FleetReport[]> {
  const reports: FleetReport[] = [];
  const now = flags.now ?? systemEnv.now();
  for (const namespace of namespacesOf([...servers, ...plugins])) {
    const here = <T extends KubeObject>(objects: readonly T[]): readonly T[] =>
      objects.filter(({ metadata }) => metadata.namespace === namespace);
    const report = await reportFleet(
      namespace,
      { servers: here(servers), plugins: here(plugins) },
      { env: systemEnv, now, timeLimitMs: flags.timeLimit },
    );
    if (!report)
      throw new Failure(`namespace ${namespace}: no answer within the time limit; give more with --time-limit`);
    reports.push(report);
  }
  return reports;
}

const isBlocked = ({ servers, plugins }: FleetReport): boolean =>
  [...servers, ...plugins].some(({ blocked }) => blocked);

const isForPeople = (output: OutputFormat): boolean => output === "table" || output === "wide";

function answerOf(before: readonly FleetReport[], after: readonly FleetReport[], whatIf: readonly WhatIf[]): Answer {
  const isTrial = whatIf.length > 0;
  return {
    value: isTrial ? { whatIf: whatIf.map(formatWhatIf), namespaces: after, before } : { namespaces: after },
    names: linesOf(after).map(({ kind, name }) => {
      const { singular, group } = kind === "server" ? PaperMCServer : Plugin;
      return `${singular}.${group}/${name}`;
    }),
    table: (isWide) => table(before, after, whatIf, isWide),
  };
}

interface Line {
  readonly kind: "server" | "plugin";
  readonly namespace: string;
  readonly name: string;
  readonly strategy: string;
  readonly current?: string;
  readonly chosen?: string;
  readonly newest?: string;
  readonly blocked: boolean;
  readonly message: string;
  readonly unblockedBy: readonly Remedy[];
}

const linesOf = (reports: readonly FleetReport[]): readonly Line[] =>
  reports.flatMap(({ namespace, servers, plugins }) => [
    ...servers.map((server) => ({ kind: "server" as const, namespace, ...server, ...tagsOf(server) })),
    ...plugins.map((plugin) => ({ kind: "plugin" as const, namespace, ...plugin })),
  ]);

const tag = (version: string | undefined, build: number | undefined): string | undefined =>
  version === undefined || build === undefined ? version : `${version}-${build}`;

function tagsOf(server: ServerReport): Partial<Pick<Line, "current" | "chosen" | "newest">> {
  const current = tag(server.current, server.currentBuild);
  const chosen = tag(server.chosen, server.chosenBuild);
  const newest = tag(server.newest, server.newestBuild);
  return { ...(current && { current }), ...(chosen && { chosen }), ...(newest && { newest }) };
}

function table(
  before: readonly FleetReport[],
  after: readonly FleetReport[],
  whatIf: readonly WhatIf[],
  isWide: boolean,
): string {
  const lines = linesOf(after);
  const was = new Map(linesOf(before).map((line) => [`${line.namespace} ${line.kind} ${line.name}`, line]));
  const isTrial = whatIf.length > 0;
  const rows = lines.map((line) => {
    const { kind, name, namespace, current = "-", chosen = "-", newest = "-", blocked } = line;
    const old = was.get(`${namespace} ${kind} ${name}`);
    const state = blocked ? "Blocked" : chosen === "-" ? "None" : chosen === newest ? "Newest" : "Held";
    const more = isWide ? [line.strategy, line.message] : [];
    return [
      namespace,
      `${kind}/${name}`,
      current,
      ...(isTrial ? [old?.chosen ?? "-"] : []),
      chosen,
      newest,
      state,
      ...more,
    ];
  });
  const header = [
    "NAMESPACE",
    "OBJECT",
    "CURRENT",
    ...(isTrial ? ["WITHOUT CHANGE"] : []),
    "CHOSEN",
    "NEWEST",
    "STATE",
    ...(isWide ? ["STRATEGY", "WHY"] : []),
  ];
  const hasSeveral = after.length > 1;
  const notes = lines.flatMap(({ kind, namespace, name, message, unblockedBy }) => [
    `${hasSeveral ? `${namespace}: ` : ""}${kind}/${name}: ${message}`,
    ...unblockedBy.map(
      ({ changes, reaches }) => `  ${changes.map((change) => `--what-if ${change}`).join(" ")} leads to ${reaches}`,
    ),
  ]);
  const doubt = after.every(({ proven }) => proven)
    ? []
    : ["The time ran out: this is the best answer found, and a better one may exist."];
  const title = isTrial ? [`With ${whatIf.map(formatWhatIf).join(", ")}:`, ""] : [];
  return `${[...title, formatTable(header, rows), ...notes, ...doubt].join("\n")}\n`;
}

/** Files carry no namespace when they were never applied; kubectl would use `default`. */
function ofKind<T extends KubeObject>(manifests: readonly ManifestObject[], kind: Kind<T>): readonly T[] {
  const byName = new Map<string, T>();
  for (const { object, source } of manifests) {
    if (object.kind !== kind.kind || object.apiVersion !== apiVersionOf(kind)) continue;
    const { object: complete, errors } = admit(kind, object);
    if (errors.length > 0) throw new Failure(`${source}: ${kind.kind} ${object.metadata.name}: ${errors.join("; ")}`);
    const namespace = complete.metadata.namespace ?? "default";
    byName.set(`${namespace}/${complete.metadata.name}`, {
      ...(complete as T),
      metadata: { ...complete.metadata, namespace },
    });
  }
  return [...byName.values()];
}

function collectChanges(text: string, before: readonly WhatIf[]): readonly WhatIf[] {
  const change = parseWhatIf(text);
  if (!change.ok) throw new InvalidArgumentError(change.message);
  return [...before, change.value];
}

function readTime(text: string): Date {
  const time = parseTime(text);
  if (!time.ok) throw new InvalidArgumentError(time.message);
  return time.value;
}

function readDuration(text: string): number {
  const duration = parseDurationMs(text);
  if (!duration.ok || duration.value <= 0) throw new InvalidArgumentError("expected a duration such as 30s or 2m");
  return duration.value;
}
