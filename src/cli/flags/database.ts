import { join } from "node:path";
import type { Command } from "commander";
import { Failure } from "../failure.ts";
import { setting } from "../settings.ts";

/** Where the registry and the audit trail keep what must survive. */
export interface DatabaseFlags {
  readonly databaseUrl?: string;
}

export const withDatabaseFlags = (command: Command): Command =>
  command.addOption(
    setting(
      "--database-url <url>",
      "postgres://… for the registry and the audit trail, or the path of an SQLite file; by default capstan.db in the data directory",
    ),
  );

/** For `openDatabase`: the URL that was given, or the file in the data directory. */
export function databaseLocationOf({ databaseUrl }: DatabaseFlags, dataDir: string): string {
  if (databaseUrl === undefined || databaseUrl === "") return join(dataDir, "capstan.db");
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(databaseUrl)?.[1];
  if (scheme !== undefined && !/^postgres(ql)?$/.test(scheme))
    throw new Failure(`--database-url begins with ${scheme}://; it must be postgres://… or the path of an SQLite file`);
  return databaseUrl;
}
