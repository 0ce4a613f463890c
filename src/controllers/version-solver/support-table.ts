import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import type { Rest } from "../../solver/rest.ts";
import { compareWithoutBuild, type MinecraftVersion, readCoverage } from "../../versions/minecraft.ts";
import type { AvailableVersion } from "./compatibility.ts";
import type { Member } from "./fleet.ts";
import { installedOn, type PluginChoices } from "./plugin-choices.ts";
import type { ServerCandidate, ServerChoices } from "./server-choices.ts";

type Candidates<C> = Extract<C, { readonly kind: "Candidates" }>;

/** For each value of a plugin's variable the candidates of a server that it can run on. */
export type SupportTable = readonly (readonly number[])[];

/** Servers mostly share one list of versions and plugins one vocabulary of them, so each question is answered once. */
export interface SupportTables {
  /** For each candidate of the plugin; without the value "none". */
  rows(plugin: Plugin, choices: Candidates<PluginChoices>, server: Candidates<ServerChoices>): Promise<SupportTable>;
  /** With "none" first: what is installed stays, and the server goes no further than that supports. */
  table(
    member: Member,
    choices: Candidates<PluginChoices>,
    server: PaperMCServer,
    serverChoices: Candidates<ServerChoices>,
  ): Promise<SupportTable>;
}

export function createSupportTables(rest: Rest): SupportTables {
  const lists = createPaperLists();
  const rowsOfPlugin = new Map<Plugin, Map<PaperList, SupportTable>>();
  const rows: SupportTables["rows"] = async (plugin, choices, server) => {
    const ofPlugin = getOrAdd(rowsOfPlugin, plugin, () => new Map<PaperList, SupportTable>());
    const list = lists(server);
    const known = ofPlugin.get(list);
    if (known) return known;
    const found: (readonly number[])[] = [];
    for (const available of choices.candidates) {
      found.push(list.supporting(entriesOf(plugin, available)));
      const pause = rest();
      if (pause) await pause;
    }
    ofPlugin.set(list, found);
    return found;
  };

  const tables = new Map<SupportTable, Map<string, SupportTable>>();
  const valuesOf = new Map<object, ReadonlyMap<string, number>>();
  return {
    rows,
    async table(member, choices, server, serverChoices) {
      const ofRows = await rows(member.plugin, choices, serverChoices);
      const installed = installedOn(member, server);
      const positions = getOrAdd(
        valuesOf,
        choices,
        () => new Map(choices.candidates.map(({ version }, index) => [version, index])),
      );
      const kept = installed === undefined ? -1 : (positions.get(installed) ?? -1);
      return getOrAdd(
        getOrAdd(tables, ofRows, () => new Map<string, SupportTable>()),
        `${serverChoices.current} ${kept}`,
        () => [withoutPlugin(serverChoices, ofRows[kept] ?? []), ...ofRows],
      );
    },
  };
}

/** What a version of a plugin says that it supports; nothing means everything. */
const entriesOf = ({ spec: { compatibilityOverride: override } }: Plugin, available: AvailableVersion) =>
  override?.enabled ? (override.minecraftVersions ?? []) : available.minecraftVersions;

/** A list of what servers may run, and which of it entries of compatibility lists mean. Equal answers are the same array. */
interface PaperList {
  supporting(entries: readonly string[]): readonly number[];
}

function createPaperLists(): (server: Candidates<ServerChoices>) => PaperList {
  const byText = new Map<string, PaperList>();
  const byChoices = new Map<object, PaperList>();
  return (server) =>
    getOrAdd(byChoices, server, () => {
      const text = server.candidates.map(({ version, build }) => `${version.text}-${build}`).join();
      return getOrAdd(byText, text, () => paperList(server.candidates));
    });
}

function paperList(candidates: readonly ServerCandidate[]): PaperList {
  const everything = candidates.map((_, index) => index);
  const ofEntry = new Map<string, readonly number[]>();
  const covered = (entry: string): readonly number[] => {
    const { from, to, covers } = readCoverage(entry);
    const first = from ? firstNotBefore(candidates, from) : 0;
    const found: number[] = [];
    for (let index = first; index < candidates.length; index++) {
      const version = candidates[index]?.version;
      if (!version || (to && compareWithoutBuild(version, to) > 0)) break;
      if (covers(version)) found.push(index);
    }
    return found;
  };
  const ofEntries = new Map<string, readonly number[]>();
  return {
    supporting(entries) {
      if (entries.length === 0) return everything;
      return getOrAdd(ofEntries, entries.join("\n"), () => {
        const found = new Set<number>();
        for (const entry of entries)
          for (const index of getOrAdd(ofEntry, entry, () => covered(entry))) found.add(index);
        return [...found].sort((a, b) => a - b);
      });
    },
  };
}

/** Candidates are in order, so half of what is left is enough to look at. */
function firstNotBefore(candidates: readonly ServerCandidate[], wanted: MinecraftVersion): number {
  let [low, high] = [0, candidates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const version = candidates[middle]?.version;
    if (version && compareWithoutBuild(version, wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Without a current version the server has to begin somewhere, even if a plugin cannot be part of it. */
function withoutPlugin(
  { candidates, current }: Candidates<ServerChoices>,
  installedFits: readonly number[],
): readonly number[] {
  if (current === undefined) return candidates.map((_, index) => index);
  return [...new Set([current, ...installedFits])].sort((a, b) => a - b);
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
