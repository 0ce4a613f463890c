import type { PaperMCServer } from "../../src/api/papermc-server.ts";
import type { Plugin } from "../../src/api/plugin.ts";

/** The servers of one namespace by the plugins that they carry. */
export interface Matrix {
  readonly namespace: string;
  readonly plugins: readonly Plugin[];
  readonly rows: readonly MatrixRow[];
}

export interface MatrixRow {
  readonly server: PaperMCServer;
  readonly current: string | undefined;
  readonly chosen: string | undefined;
  /** The newest version of Paper that is known, whether it can be taken or not. */
  readonly newest: string | undefined;
  readonly blocker: string | undefined;
  readonly cells: ReadonlyMap<string, Cell>;
}

export interface Cell {
  readonly plugin: string;
  readonly installed: string | undefined;
  readonly chosen: string | undefined;
  readonly newest: string | undefined;
  readonly fits: boolean;
  readonly isBlocker: boolean;
}

export function matricesOf(servers: readonly PaperMCServer[], plugins: readonly Plugin[]): readonly Matrix[] {
  const byNamespace = Map.groupBy(servers, ({ metadata }) => metadata.namespace ?? "");
  return [...byNamespace].sort(byKey).map(([namespace, own]) => {
    const known = plugins.filter(({ metadata }) => metadata.namespace === namespace);
    const byName = new Map(known.map((plugin) => [plugin.metadata.name, plugin]));
    return { namespace, plugins: known, rows: own.map((server) => rowOf(server, byName)) };
  });
}

const byKey = (a: readonly [string, unknown], b: readonly [string, unknown]): number => a[0].localeCompare(b[0]);

function rowOf(server: PaperMCServer, plugins: ReadonlyMap<string, Plugin>): MatrixRow {
  const { status = {} } = server;
  const blocked = status.updateBlocked;
  const blocker = blocked?.blocked ? blocked.blockedBy?.plugin : undefined;
  const cells = (status.plugins ?? []).map(
    ({ pluginRef, resolvedVersion, currentVersion, desiredVersion, compatible }): Cell => {
      const plugin = plugins.get(pluginRef.name);
      return {
        plugin: pluginRef.name,
        installed: currentVersion,
        chosen: desiredVersion ?? (resolvedVersion || undefined),
        newest: newestOf(plugin),
        fits: compatible,
        isBlocker: blocker === pluginRef.name,
      };
    },
  );
  return {
    server,
    current: withBuild(status.currentVersion, status.currentBuild),
    chosen: withBuild(status.desiredVersion, status.desiredBuild),
    newest: withBuild(status.availableVersions?.[0]?.version, status.availableVersions?.[0]?.build),
    blocker,
    cells: new Map(cells.map((cell) => [cell.plugin, cell])),
  };
}

/** The one that was released last. */
export function newestOf(plugin: Plugin | undefined): string | undefined {
  const versions = plugin?.status?.availableVersions ?? [];
  return versions.toSorted((a, b) => b.releasedAt.localeCompare(a.releasedAt))[0]?.version;
}

const withBuild = (version: string | undefined, build: number | undefined): string | undefined =>
  version === undefined || build === undefined ? version : `${version}-${build}`;

/** Every Minecraft version that some version of the plugin supports, the newest first. */
export function supportedBy(plugin: Plugin | undefined): readonly string[] {
  const override = plugin?.spec.compatibilityOverride;
  const all = override?.enabled
    ? (override.minecraftVersions ?? [])
    : (plugin?.status?.availableVersions ?? []).flatMap(({ minecraftVersions }) => minecraftVersions);
  return [...new Set(all)].sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
}
