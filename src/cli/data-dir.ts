import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Failure } from "./failure.ts";

/** A data directory that this process holds alone until it is released. */
export interface HeldDataDir {
  readonly path: string;
  release(): void;
}

/**
 * Takes the directory for this process. The lock is an open SQLite transaction: the operating system lets go of it
 * whatever way the process ends, so a crash never leaves a stale lock behind.
 */
export function holdDataDir(folder: string): HeldDataDir {
  const path = resolve(folder);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Failure(`--data-dir ${path} cannot be created: ${(error as Error).message}`);
  }
  const holderFile = join(path, "holder.json");
  const lock = new DatabaseSync(join(path, "lock.db"), { timeout: 0 });
  try {
    lock.exec("PRAGMA journal_mode=DELETE; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch {
    lock.close();
    throw new Failure(`${path} is in use by ${holderOf(holderFile)}; stop it first, or choose another --data-dir`);
  }
  writeFileSync(holderFile, JSON.stringify({ pid: process.pid }));
  return {
    path,
    release() {
      rmSync(holderFile, { force: true });
      lock.close();
    },
  };
}

function holderOf(holderFile: string): string {
  if (!existsSync(holderFile)) return "another capstan";
  try {
    return `pid ${(JSON.parse(readFileSync(holderFile, "utf8")) as { pid: number }).pid}`;
  } catch {
    return "another capstan";
  }
}
