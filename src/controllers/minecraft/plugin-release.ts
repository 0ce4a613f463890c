import type { Plugin } from "../../api/plugin.ts";

/** One version of a plugin as a repository offers it. */
export interface PluginRelease {
  readonly version: string;
  /** Empty when the repository does not say. */
  readonly minecraftVersions: readonly string[];
  readonly downloadURL: string;
  /** SHA-256 in hexadecimal digits, `sha512:` and its digits, or empty. */
  readonly hash: string;
  readonly releasedAt?: string;
  readonly channel?: string;
  readonly dependencies?: readonly {
    readonly project: string;
    readonly required: boolean;
    readonly version?: string;
  }[];
}

export type PluginSourceSpec = Plugin["spec"]["source"];

/** Nobody publishes more; a repository that says so is not believed. */
export const maxReleases = 10_000;
