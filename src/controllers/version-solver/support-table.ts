import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import { coversMinecraftVersion } from "../../versions/minecraft.ts";
import type { AvailableVersion } from "./compatibility.ts";
import type { Member } from "./fleet.ts";
import type { PluginChoices } from "./plugin-choices.ts";
import type { ServerChoices } from "./server-choices.ts";

type Candidates<C> = Extract<C, { readonly kind: "Candidates" }>;

/** For each value of a plugin's variable the candidates of a server that it can run on. */
export type SupportTable = readonly (readonly number[])[];

/** Servers mostly share one list of versions and plugins one vocabulary of them, so each question is answered once. */
export interface SupportTables {
  /** For each candidate of the plugin; without the value "none". */
  rows(plugin: Plugin, choices: Candidates<PluginChoices>, server: Candidates<ServerChoices>): SupportTable;
  /** With "none" first: what is installed stays, and the server goes no further than that supports. */
  table(
    member: Member,
    choices: Candidates<PluginChoices>,
    server: PaperMCServer,
    serverChoices: Candidates<ServerChoices>,
  ): SupportTable;
}

export function createSupportTables(): SupportTables {
  /** A short name for each list of versions. */
  const names = new Map<string, string>();
  const nameOf = new Map<object, string>();
  const listKey = (server: Candidates<ServerChoices>): string => {
    const known = nameOf.get(server);
    if (known !== undefined) return known;
    const text = server.candidates.map(({ version, build }) => `${version.text}-${build}`).join();
    const name = names.get(text) ?? String(names.size);
    names.set(text, name);
    nameOf.set(server, name);
    return name;
  };
  const entriesOfList = new Map<string, Map<string, readonly number[]>>();
  const covered = (entry: string, server: Candidates<ServerChoices>): readonly number[] => {
    const list = listKey(server);
    const ofList = entriesOfList.get(list) ?? new Map<string, readonly number[]>();
    entriesOfList.set(list, ofList);
    const found =
      ofList.get(entry) ??
      server.candidates.flatMap(({ version }, index) => (coversMinecraftVersion(entry, version) ? [index] : []));
    ofList.set(entry, found);
    return found;
  };
  const rowOf = (plugin: Plugin, available: AvailableVersion, server: Candidates<ServerChoices>): readonly number[] => {
    const { compatibilityOverride: override } = plugin.spec;
    const entries = override?.enabled ? (override.minecraftVersions ?? []) : available.minecraftVersions;
    if (entries.length === 0) return server.candidates.map((_, index) => index);
    return [...new Set(entries.flatMap((entry) => covered(entry, server)))].sort((a, b) => a - b);
  };

  const rowsOfPlugin = new Map<Plugin, Map<string, SupportTable>>();
  const rows: SupportTables["rows"] = (plugin, choices, server) => {
    const ofPlugin = rowsOfPlugin.get(plugin) ?? new Map<string, SupportTable>();
    rowsOfPlugin.set(plugin, ofPlugin);
    const key = listKey(server);
    const found = ofPlugin.get(key) ?? choices.candidates.map((available) => rowOf(plugin, available, server));
    ofPlugin.set(key, found);
    return found;
  };

  const tables = new Map<SupportTable, Map<string, SupportTable>>();
  return {
    rows,
    table({ plugin }, choices, server, serverChoices) {
      const ofRows = rows(plugin, choices, serverChoices);
      const installed = server.status?.plugins?.find(
        ({ pluginRef }) => pluginRef.name === plugin.metadata.name,
      )?.currentVersion;
      const kept = installed === undefined ? -1 : choices.candidates.findIndex(({ version }) => version === installed);
      const known = tables.get(ofRows) ?? new Map<string, SupportTable>();
      tables.set(ofRows, known);
      const key = `${serverChoices.current} ${kept}`;
      const found = known.get(key) ?? [withoutPlugin(serverChoices, ofRows[kept] ?? []), ...ofRows];
      known.set(key, found);
      return found;
    },
  };
}

/** Without a current version the server has to begin somewhere, even if a plugin cannot be part of it. */
function withoutPlugin(
  { candidates, current }: Candidates<ServerChoices>,
  installedFits: readonly number[],
): readonly number[] {
  if (current === undefined) return candidates.map((_, index) => index);
  return [...new Set([current, ...installedFits])].sort((a, b) => a - b);
}
