import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemEnv } from "../../env/system.ts";
import { textReply } from "../../http/reply.ts";
import { listen } from "../../http/server.ts";
import type { Finding } from "./finding.ts";

/** Where `capstan up` keeps its state and where it listens: whether it could start, or who has. */
export interface DataDirectory {
  readonly findings: readonly Finding[];
  readonly isHeld: boolean;
}

export interface DataDirectoryFlags {
  readonly dataDir: string;
  readonly apiPort: number;
  readonly httpPort: number;
}

export async function examineDataDirectory(flags: DataDirectoryFlags): Promise<DataDirectory> {
  const path = resolve(flags.dataDir);
  const isHeld = isLocked(join(path, "lock.db"));
  const ready = readJson(join(path, "ready.json"));
  const own = isHeld ? ready : undefined;
  return {
    isHeld,
    findings: [
      writable(path),
      holder(path, isHeld, ready !== undefined),
      await port("api-port", flags.apiPort, own?.["api"]),
      await port("http-port", flags.httpPort, own?.["http"]),
    ],
  };
}

/** Whoever asks about a cluster by name may like to know that `capstan up` would find its ports taken; it is not what is wrong. */
export const notedOnly = (finding: Finding): Finding =>
  finding.state === "wrong" && /-port$/.test(finding.check) ? { ...finding, state: "note" } : finding;

function writable(path: string): Finding {
  const check = "data-dir";
  const next = "choose another with --data-dir, or change its owner";
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    if (!statSync(existing).isDirectory())
      return { check, state: "wrong", message: `${existing} is a file, not a folder`, next };
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return { check, state: "wrong", message: `${existing} cannot be written: ${(error as Error).message}`, next };
  }
  return { check, state: "ok", message: existing === path ? `${path} is writable` : `${path} can be created` };
}

function holder(path: string, isHeld: boolean, isReady: boolean): Finding {
  const check = "holder";
  const pid = readJson(join(path, "holder.json"))?.["pid"];
  if (isHeld) {
    const who = typeof pid === "number" ? `pid ${pid}` : "another capstan";
    return { check, state: "ok", message: `${who} runs on it and is ${isReady ? "ready" : "starting or stopping"}` };
  }
  if (pid === undefined) return { check, state: "ok", message: "nobody runs on it" };
  const message = `pid ${String(pid)} ran on it and did not stop by itself; what it acknowledged is saved`;
  return { check, state: "note", message, next: "start `capstan up` again" };
}

/** The holder has an open transaction on this file: reading is refused for exactly as long as it lives. */
function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    const lock = new DatabaseSync(file, { readOnly: true, timeout: 0 });
    try {
      lock.prepare("SELECT count(*) FROM sqlite_master").get();
      return false;
    } finally {
      lock.close();
    }
  } catch (error) {
    return (error as { readonly errcode?: number }).errcode === sqliteBusy;
  }
}

const sqliteBusy = 5;

async function port(check: "api-port" | "http-port", wanted: number, ownUrl: unknown): Promise<Finding> {
  if (typeof ownUrl === "string" && URL.canParse(ownUrl))
    return { check, state: "ok", message: `the running instance has it: ${ownUrl}` };
  if (wanted === 0) return { check, state: "ok", message: "any free one" };
  try {
    const listener = await listen({ env: systemEnv, port: wanted, handler: async () => textReply(503, "") });
    await listener.close();
    return { check, state: "ok", message: `${wanted} is free` };
  } catch (error) {
    const { code } = error as { readonly code?: string };
    const why = code === "EADDRINUSE" ? "is in use by another program" : `cannot be had: ${(error as Error).message}`;
    const next = `end what uses ${wanted}, or choose another with --${check} (0 takes any free one)`;
    return { check, state: "wrong", message: `${wanted} ${why}`, next };
  }
}

function readJson(file: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
