import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "../../env/env.ts";

/** What containers have written, on disk and bounded: of each container its last two runs, of each run its last part. */
export interface LogLine {
  readonly atMs: number;
  readonly text: string;
}

export interface LogStoreOptions {
  readonly env: Env;
  readonly folderOf: (uid: string, container: string) => string;
  readonly maxBytesPerFile?: number;
}

export class LogStore {
  readonly #options: LogStoreOptions;
  readonly #open = new Map<string, OpenLog>();

  constructor(options: LogStoreOptions) {
    this.#options = options;
  }

  /** Begins the log of a run; the one before the last is forgotten. */
  begin(uid: string, container: string, run: number): OpenLog {
    const folder = join(this.#options.folderOf(uid, container), "logs");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const file of readdirSync(folder)) {
      if (Number.parseInt(file, 10) < run - 1) rmSync(join(folder, file), { force: true });
    }
    const log = new OpenLog(
      this.#options.env,
      join(folder, `${run}.log`),
      this.#options.maxBytesPerFile ?? defaultMaxBytes,
    );
    this.#open.set(idOf(uid, container, run), log);
    log.onClose(() => this.#open.delete(idOf(uid, container, run)));
    return log;
  }

  /** The log of a run that goes on. */
  running(uid: string, container: string, run: number): OpenLog | undefined {
    return this.#open.get(idOf(uid, container, run));
  }

  read(uid: string, container: string, run: number): readonly LogLine[] | undefined {
    const file = join(this.#options.folderOf(uid, container), "logs", `${run}.log`);
    const parts = [`${file}.old`, file].map(readIfThere);
    return parts[1] === undefined ? undefined : parts.flatMap((part) => parseLines(part ?? ""));
  }

  /** The newest run that has left a log. */
  lastRun(uid: string, container: string): number | undefined {
    let files: readonly string[];
    try {
      files = readdirSync(join(this.#options.folderOf(uid, container), "logs"));
    } catch {
      return undefined;
    }
    const runs = files.map((file) => Number.parseInt(file, 10)).filter((run) => run >= 0);
    return runs.length === 0 ? undefined : Math.max(...runs);
  }
}

/** One log that is being written. */
export class OpenLog {
  readonly #env: Env;
  readonly #file: string;
  readonly #maxBytes: number;
  readonly #followers = new Set<(lines: readonly LogLine[]) => void>();
  readonly #closers = new Set<() => void>();
  readonly #partial = new Map<string, string>();
  #bytes = 0;
  #isClosed = false;

  constructor(env: Env, file: string, maxBytes: number) {
    this.#env = env;
    this.#file = file;
    this.#maxBytes = maxBytes;
    appendFileSync(file, "", { mode: 0o600 });
  }

  /** A piece of output as it came; lines are made of it. */
  write(stream: "stdout" | "stderr", chunk: string): void {
    const pieces = ((this.#partial.get(stream) ?? "") + chunk).split("\n");
    let rest = pieces.pop() ?? "";
    while (rest.length > maxLineLength) {
      pieces.push(rest.slice(0, maxLineLength));
      rest = rest.slice(maxLineLength);
    }
    this.#partial.set(stream, rest);
    this.#append(pieces.flatMap(cutLong));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#append([...this.#partial.values()].filter((text) => text !== ""));
    this.#isClosed = true;
    for (const closed of [...this.#closers]) closed();
    this.#followers.clear();
  }

  /** Lines from now on; answers how to stop. */
  follow(onLines: (lines: readonly LogLine[]) => void): () => void {
    this.#followers.add(onLines);
    return () => void this.#followers.delete(onLines);
  }

  onClose(closed: () => void): () => void {
    if (this.#isClosed) closed();
    else this.#closers.add(closed);
    return () => void this.#closers.delete(closed);
  }

  #append(texts: readonly string[]): void {
    if (texts.length === 0 || this.#isClosed) return;
    const atMs = this.#env.now().getTime();
    const content = texts.map((text) => `${new Date(atMs).toISOString()} ${text}\n`).join("");
    if (this.#bytes + content.length > this.#maxBytes) {
      renameSync(this.#file, `${this.#file}.old`);
      this.#bytes = 0;
    }
    // Written before anybody is told, so that a reader who comes now misses nothing.
    appendFileSync(this.#file, content, { mode: 0o600 });
    this.#bytes += content.length;
    const lines = texts.map((text) => ({ atMs, text }));
    for (const tell of [...this.#followers]) tell(lines);
  }
}

const defaultMaxBytes = 5 * 1024 * 1024;
const maxLineLength = 16 * 1024;

function cutLong(text: string): readonly string[] {
  if (text.length <= maxLineLength) return [text];
  return Array.from({ length: Math.ceil(text.length / maxLineLength) }, (_, index) =>
    text.slice(index * maxLineLength, (index + 1) * maxLineLength),
  );
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function parseLines(content: string): readonly LogLine[] {
  const lines = content.split("\n");
  lines.pop();
  return lines.map((line) => {
    const space = line.indexOf(" ");
    return { atMs: Date.parse(line.slice(0, space)), text: line.slice(space + 1) };
  });
}

const idOf = (uid: string, container: string, run: number): string => `${uid}/${container}/${run}`;
