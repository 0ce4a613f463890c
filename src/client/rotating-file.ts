import { readFile } from "node:fs/promises";
import type { Env } from "../env/env.ts";
import { CredentialError } from "./connection-error.ts";

/** How long the content of a credential file is believed. Kubelet replaces tokens well before they end. */
export const maxFileAgeMs = 60_000;

/**
 * A file that others replace: a service account's token, a CA bundle. It is read when somebody needs it and the last
 * reading is old; a file that cannot be read for a moment leaves the last good content standing.
 */
export class RotatingFile {
  readonly #env: Env;
  readonly #path: string;
  readonly #label: string;
  #content: string | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<string> | undefined;

  constructor(env: Env, path: string, label: string) {
    this.#env = env;
    this.#path = path;
    this.#label = label;
  }

  /** The content if it is young enough to be used without waiting. */
  get fresh(): string | undefined {
    return this.#env.monotonicMs() - this.#readAtMs < maxFileAgeMs ? this.#content : undefined;
  }

  async current(): Promise<string> {
    return this.fresh ?? this.reload();
  }

  /** Reads at once, because the content has just been refused. */
  reload(): Promise<string> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<string> {
    try {
      const content = await readFile(this.#path, "utf8");
      if (content.trim() === "") throw new Error("the file is empty");
      this.#content = content;
    } catch (error) {
      if (this.#content === undefined)
        throw new CredentialError(
          `${this.#label}: cannot read ${this.#path}: ${error instanceof Error ? error.message : error}`,
          {
            cause: error,
          },
        );
    }
    this.#readAtMs = this.#env.monotonicMs();
    return this.#content;
  }
}
