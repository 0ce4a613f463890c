import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Places } from "./places.ts";
import { processBirth, signalGroup } from "./process-group.ts";

/** Which processes run, on disk: a node that was killed leaves them behind, and its successor ends them. */
export class ProcessRecords {
  readonly #places: Places;

  constructor(places: Places) {
    this.#places = places;
  }

  add(uid: string, container: string, pid: number): void {
    const file = this.#file(uid, container);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ pid, birth: processBirth(pid) }), { mode: 0o600 });
  }

  remove(uid: string, container: string): void {
    rmSync(this.#file(uid, container), { force: true });
  }

  /** Ends what an earlier process of this node has left running; answers how many there were. */
  endLeftovers(): number {
    let ended = 0;
    for (const uid of list(this.#places.pods)) {
      for (const container of list(join(this.#places.pod(uid), "containers"))) {
        const record = readRecord(this.#file(uid, container));
        if (record === undefined) continue;
        // Another process may have the number by now; only the one that we started is ended.
        if (record.birth !== undefined && processBirth(record.pid) === record.birth) {
          signalGroup(record.pid, "SIGKILL");
          ended++;
        }
        this.remove(uid, container);
      }
    }
    return ended;
  }

  /** The uids of pods that have files. */
  pods(): readonly string[] {
    return list(this.#places.pods);
  }

  /** Forgets the files of pods that are no more. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const uid of list(this.#places.pods)) {
      if (!uids.has(uid)) rmSync(this.#places.pod(uid), { recursive: true, force: true });
    }
  }

  #file(uid: string, container: string): string {
    return join(this.#places.container(uid, container), "process.json");
  }
}

const list = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);

function readRecord(file: string): { readonly pid: number; readonly birth?: string } | undefined {
  try {
    const record = JSON.parse(readFileSync(file, "utf8")) as { pid?: unknown; birth?: unknown };
    if (typeof record.pid !== "number" || record.pid < 2) return undefined;
    return { pid: record.pid, ...(typeof record.birth === "string" && { birth: record.birth }) };
  } catch {
    return undefined;
  }
}
