import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import type { AvailableVersion } from "./compatibility.ts";

/** Servers and plugins in as few words as possible, for tests and benchmarks. */

export const namespace = "games";

type ServerSpec = PaperMCServer["spec"];
type ServerStatus = NonNullable<PaperMCServer["status"]>;
type KnownPaper = NonNullable<ServerStatus["availableVersions"]>[number];

export interface ServerOptions {
  readonly current?: string;
  readonly build?: number;
  /** Versions, or whole entries. */
  readonly paper: readonly (string | KnownPaper)[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<ServerSpec>;
  readonly plugins?: ServerStatus["plugins"];
}

export function server(name: string, { current, build, paper, labels, spec, plugins }: ServerOptions): PaperMCServer {
  return {
    apiVersion: "mc.k8s.lex.la/v1beta1",
    kind: "PaperMCServer",
    metadata: { name, namespace, uid: `server-${name}`, generation: 1, labels: { server: name, ...labels } },
    spec: {
      updateStrategy: "auto",
      updateSchedule: {
        checkCron: "0 3 * * *",
        timeZone: "UTC",
        maintenanceWindow: { cron: "0 4 * * 0", enabled: true, duration: "1h" },
      },
      gracefulShutdown: { timeout: "300s" },
      rcon: { enabled: false, passwordSecret: { name: "", key: "" }, port: 25575 },
      podTemplate: {},
      ...spec,
    },
    status: {
      ...(current !== undefined && { currentVersion: current }),
      ...(build !== undefined && { currentBuild: build }),
      availableVersions: paper.map((entry) => (typeof entry === "string" ? { version: entry } : entry)),
      ...(plugins && { plugins }),
    },
  };
}

export interface PluginOptions {
  /** Version → the Minecraft versions that it supports, or a whole entry. */
  readonly versions: Readonly<Record<string, readonly string[] | Partial<AvailableVersion>>>;
  /** The servers that it is on; all of them by default. */
  readonly on?: readonly string[];
  readonly spec?: Partial<Plugin["spec"]>;
  readonly status?: Partial<NonNullable<Plugin["status"]>>;
}

export function plugin(name: string, { versions, on, spec, status }: PluginOptions): Plugin {
  return {
    apiVersion: "mc.k8s.lex.la/v1beta1",
    kind: "Plugin",
    metadata: { name, namespace, uid: `plugin-${name}`, generation: 1 },
    spec: {
      source: { type: "hangar", project: name },
      updateStrategy: "latest",
      instanceSelector: on ? { matchExpressions: [{ key: "server", operator: "In", values: on }] } : {},
      ...spec,
    },
    status: {
      repositoryStatus: "available",
      availableVersions: Object.entries(versions).map(([version, known]) => ({
        version,
        minecraftVersions: [],
        downloadURL: `https://example.com/${name}-${version}.jar`,
        hash: "",
        cachedAt: longAgo,
        releasedAt: longAgo,
        ...(Array.isArray(known) ? { minecraftVersions: known } : (known as Partial<AvailableVersion>)),
      })),
      ...status,
    },
  };
}

/** What a server says of a plugin that it has. */
export const installed = (name: string, currentVersion: string): NonNullable<ServerStatus["plugins"]>[number] => ({
  pluginRef: { name, namespace },
  resolvedVersion: currentVersion,
  currentVersion,
  compatible: true,
  source: "hangar",
});

export const longAgo = "2020-01-01T00:00:00Z";

/** Three plugins of ten thousand versions on a server that could run two thousand of Paper; each supports a window of it, or does not say. */
export function longLists(supports: "AWindow" | "Unknown"): {
  readonly servers: readonly PaperMCServer[];
  readonly plugins: readonly Plugin[];
} {
  const paper = Array.from({ length: 2_000 }, (_, index) => ({
    version: `1.${20 + Math.floor(index / 20)}.${index % 20}`,
    build: index + 1,
    releasedAt: longAgo,
  }));
  const names = paper.map(({ version }) => version);
  const windowAt = (at: number): readonly string[] => names.slice(Math.max(0, at - 8), Math.max(1, at));
  const plugins = [0, 1, 2].map((number) =>
    plugin(`p${number}`, {
      versions: Object.fromEntries(
        Array.from({ length: 10_000 }, (_, at) => [
          `1.${at}.0`,
          supports === "AWindow" ? windowAt(Math.floor(at / 5) - number * 3) : [],
        ]),
      ),
      spec: { updateDelay: "24h" },
    }),
  );
  const servers = [server("s", { paper, current: "1.20.0", build: 1, spec: { updateDelay: "24h" } })];
  return { servers, plugins };
}
