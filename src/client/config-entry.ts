import { isAbsolute, join } from "node:path";
import { isRecord } from "./answers.ts";

/** What is wrong in a kubeconfig: file, entry and field, never the value of a secret. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
  readonly file: string;
  /** `users["dev"].user.token`; empty when the file as a whole is meant. */
  readonly field: string;

  constructor(file: string, field: string, problem: string, cause?: unknown) {
    super(`${file}: ${field === "" ? "" : `${field}: `}${problem}`, cause === undefined ? undefined : { cause });
    this.file = file;
    this.field = field;
  }
}

/** One entry of a kubeconfig, which knows where it stands and reads its fields by type. */
export class ConfigEntry {
  readonly file: string;
  readonly folder: string;
  readonly path: string;
  readonly #fields: Record<string, unknown>;

  constructor(file: string, folder: string, path: string, value: unknown) {
    this.file = file;
    this.folder = folder;
    this.path = path;
    if (!isRecord(value)) throw new KubeconfigError(file, path, "must be a mapping");
    this.#fields = value;
  }

  error(field: string, problem: string): KubeconfigError {
    return new KubeconfigError(this.file, this.#pathOf(field), problem);
  }

  /** `users["dev"].user.tokenFile of /home/me/.kube/config`: what later errors call a field. */
  label(field: string): string {
    return `${this.#pathOf(field)} of ${this.file}`;
  }

  /** Absent, null and empty are the same, as for kubectl. */
  text(field: string): string | undefined {
    const value = this.#fields[field] ?? "";
    // An unquoted token may look like a number; what it was is lost, so it is refused rather than guessed.
    if (typeof value !== "string")
      throw this.error(field, `must be a string; put it in quotes (found a ${typeof value})`);
    return value === "" ? undefined : value;
  }

  flag(field: string): boolean {
    const value = this.#fields[field] ?? false;
    if (typeof value !== "boolean") throw this.error(field, "must be true or false");
    return value;
  }

  list(field: string): readonly unknown[] {
    const value = this.#fields[field] ?? [];
    if (!Array.isArray(value)) throw this.error(field, "must be a list");
    return value;
  }

  texts(field: string): readonly string[] {
    return this.list(field).map((value, index) => {
      if (typeof value !== "string") throw this.error(`${field}[${index}]`, "must be a string");
      return value;
    });
  }

  entry(field: string): ConfigEntry | undefined {
    const value = this.#fields[field] ?? undefined;
    return value === undefined ? undefined : new ConfigEntry(this.file, this.folder, this.#pathOf(field), value);
  }

  entries(field: string): readonly ConfigEntry[] {
    return this.list(field).map(
      (value, index) => new ConfigEntry(this.file, this.folder, this.#pathOf(`${field}[${index}]`), value),
    );
  }

  keys(): readonly string[] {
    return Object.keys(this.#fields);
  }

  /** The field as it stands, for what is only passed on. */
  raw(field: string): unknown {
    return this.#fields[field];
  }

  filePath(field: string): string | undefined {
    const path = this.text(field);
    return path === undefined || isAbsolute(path) ? path : join(this.folder, path);
  }

  #pathOf(field: string): string {
    return this.path === "" ? field : `${this.path}.${field}`;
  }
}
