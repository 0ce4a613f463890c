import { createHash } from "node:crypto";
import type { ConfigMap } from "../../api/builtin/configuration.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import type { ApplyObject } from "../../client/client.ts";
import { safeName } from "../../kube/names.ts";
import { childMetadata } from "./children.ts";
import { asList, asObject, asText } from "./json-reading.ts";

/** The jars that a server is to have, as its pod reads them before it starts. */
export interface ListedPlugin {
  readonly name: string;
  readonly version: string;
  readonly url: string;
  /** SHA-256 digits, `sha512:` and digits, or empty when nobody said. */
  readonly hash: string;
  /** Its file in the plugins folder. */
  readonly file: string;
}

export const listFile = "plugins.json";
export const listName = (server: PaperMCServer): string => safeName(`${server.metadata.name}-plugins`);
export const jarName = (plugin: string): string => `${plugin}.jar`;

export function pluginListMap(server: PaperMCServer, plugins: readonly ListedPlugin[]): ApplyObject<ConfigMap> {
  return {
    metadata: childMetadata(server, listName(server), "server"),
    data: { [listFile]: `${JSON.stringify({ plugins }, null, 2)}\n` },
  };
}

export function readPluginList(text: string | undefined): readonly ListedPlugin[] {
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  return asList(asObject(value)?.["plugins"]).flatMap((entry) => {
    const one = asObject(entry);
    const [name, version, url, hash, file] = ["name", "version", "url", "hash", "file"].map((key) =>
      asText(one?.[key]),
    );
    if (name === undefined || version === undefined || url === undefined || file === undefined) return [];
    return [{ name, version, url, hash: hash ?? "", file }];
  });
}

/** Which version of which plugin. What is listed already in that version stays as it is listed. */
export function listPlugins(
  wanted: readonly { readonly name: string; readonly version: string }[],
  plugins: readonly Plugin[],
  listed: readonly ListedPlugin[],
): readonly ListedPlugin[] {
  return wanted.flatMap(({ name, version }): readonly ListedPlugin[] => {
    const before = listed.find((one) => one.name === name && one.version === version);
    if (before) return [before];
    const available = plugins
      .find(({ metadata }) => metadata.name === name)
      ?.status?.availableVersions?.find((one) => one.version === version);
    if (!available || available.downloadURL === "") return [];
    return [{ name, version, url: available.downloadURL, hash: available.hash, file: jarName(name) }];
  });
}

/** Changes exactly when the pod has to fetch something else. */
export const listDigest = (plugins: readonly ListedPlugin[]): string =>
  createHash("sha256").update(JSON.stringify(plugins)).digest("hex").slice(0, 16);
