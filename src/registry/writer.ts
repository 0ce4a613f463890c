import { type Env, sleep } from "../env/env.ts";
import { StoreError } from "../store/store-error.ts";
import type { Change } from "./model/change.ts";
import type { Answer, Command } from "./model/command.ts";
import type { Moment, Rules } from "./model/decide.ts";
import type { Directory } from "./model/directory.ts";
import { Draft } from "./model/draft.ts";
import { LogBehindError, type RegistryLog } from "./storage/registry-log.ts";

export interface WriterOptions {
  readonly env: Env;
  readonly log: RegistryLog;
  readonly directory: Directory;
  readonly rules: Rules;
  readonly now: () => Moment;
  /** Takes committed changes over into the directory and tells whoever wants to know. */
  readonly onCommitted: (changes: readonly Change[]) => void;
  /** Loads everything anew, because the log no longer has what was missed. */
  readonly onBehind: () => Promise<void>;
  readonly onBatch: (commands: number) => void;
}

/**
 * Group commit: what is asked while one transaction is under way becomes the next one. An answer is given when its
 * changes are on disk, and nobody sees a change before.
 */
export class Writer {
  readonly #options: WriterOptions;
  #queue: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  submit(command: Command): Promise<Answer> {
    if (this.#queue.length >= maxQueued)
      return Promise.reject(new StoreError("Unavailable", `more than ${maxQueued} changes wait for the store`));
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    // One turn of the loop, so that requests that came in together are written together.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, maxBatch);
      this.#queue = this.#queue.slice(maxBatch);
      await this.#write(batch);
    }
    this.#running = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const { env, onBatch } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        const answers = await this.#commit(batch.map(({ command }) => command));
        onBatch(batch.length);
        for (const [index, { resolve }] of batch.entries()) resolve(answers[index] ?? { kind: "Unknown" });
        return;
      } catch (error) {
        if (attempt < maxAttempts && (await this.#mayRetry(error))) {
          await sleep(env, retryDelayMs * 4 ** (attempt - 1));
          continue;
        }
        for (const { reject } of batch) reject(error);
        return;
      }
    }
  }

  async #commit(commands: readonly Command[]): Promise<readonly Answer[]> {
    const { log, directory, rules, now, onCommitted } = this.#options;
    const confirm = commands.flatMap((command) => (command.kind === "CheckExpiry" ? [command.id] : []));
    let answers: readonly Answer[] = [];
    const changes = await log.commit({
      applied: directory.sequence,
      confirm,
      decide(missed, beatAgesMs) {
        onCommitted(missed);
        for (const [id, ageMs] of beatAgesMs) {
          const entry = directory.get(id);
          if (entry) directory.beatElsewhere(entry, ageMs, now());
        }
        const draft = new Draft(directory, now(), rules);
        answers = commands.map((command) => draft.decide(command).answer);
        return draft.changes;
      },
    });
    onCommitted(changes);
    return answers;
  }

  async #mayRetry(error: unknown): Promise<boolean> {
    if (error instanceof LogBehindError) {
      await this.#options.onBehind();
      return true;
    }
    return error instanceof StoreError && (error.reason === "Unavailable" || error.reason === "Conflict");
  }
}

interface Waiting {
  readonly command: Command;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

const maxQueued = 50_000;
const maxBatch = 1_000;
const maxAttempts = 3;
const retryDelayMs = 50;
