/** The state of one evaluation: documents, memory of what was computed, limits and the world outside. */
import type { HttpRequest, HttpResponse } from "../builtins/http.ts";
import type { Location } from "../syntax/ast.ts";
import type { RegoObject, Value } from "../values/value.ts";
import { RegoError } from "./errors.ts";
import type { FunctionGroup } from "./program.ts";

/** What evaluation may take from the outside world; nothing else is ambient. */
export interface RegoEnv {
  /** Wall-clock time in nanoseconds since 1970. */
  nowNs(): bigint;
  /** Milliseconds on a clock that never goes back, for the time limit. */
  monotonicMs(): number;
  /** Uniform in [0, 1). */
  random(): number;
  uuid(): string;
  /** What `opa.runtime()` answers. */
  readonly runtime?: RegoObject;
  /** Sends a request for `http.send`; absent means that policies may not use the network. */
  readonly httpSend?: (request: HttpRequest) => HttpResponse;
  /** Resolves a host name for `net.lookup_ip_addr`. */
  readonly lookupAddress?: (host: string) => readonly string[];
}

/** Every limit has a name; exceeding one ends the evaluation with `eval_limit_error`. */
export interface Limits {
  readonly maxInstructions: number;
  readonly maxDurationMs: number;
  /** Elements and bytes of values that built-ins and comprehensions may make, roughly. */
  readonly maxResultSize: number;
  readonly maxCallDepth: number;
}

export const defaultLimits: Limits = {
  maxInstructions: 200_000_000,
  maxDurationMs: 30_000,
  maxResultSize: 50_000_000,
  maxCallDepth: 1_000,
};

export interface BuiltinErrorRecord {
  readonly code: string;
  readonly message: string;
  readonly location: Location | undefined;
}

/** A function put in another's place by `with`. */
export type Mock =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "function"; readonly group: FunctionGroup }
  | { readonly kind: "builtin"; readonly name: string }
  | { readonly kind: "document"; readonly path: readonly string[] };

/** A path below `data` that `with` replaced. */
export type OverriddenPath = readonly string[];

const checkEvery = 4096;

export class Machine {
  input: Value | undefined;
  data: Value | undefined;
  /** Results of rules by group; `null` entries are never used, absent means not computed. */
  memo: (MemoEntry | undefined)[] = [];
  overrides: readonly OverriddenPath[] | undefined;
  mocks: ReadonlyMap<string, Mock> | undefined;

  env: RegoEnv;
  limits: Limits = defaultLimits;
  strictBuiltinErrors = false;
  builtinErrors: BuiltinErrorRecord[] = [];
  print: ((message: string, location: Location) => void) | undefined;
  trace: ((message: string, location: Location) => void) | undefined;
  signal: AbortSignal | undefined;
  /** The same call of a nondeterministic built-in answers the same within one evaluation. */
  readonly onceCache = new Map<string, Value>();
  /** Compiled patterns and the like, kept across evaluations. */
  readonly compiledCache = new Map<string, unknown>();
  nowNs: bigint | undefined;
  depth = 0;
  location: Location | undefined;

  #steps = 0;
  #nextCheck = checkEvery;
  #size = 0;
  #startMs = 0;

  constructor(env: RegoEnv) {
    this.env = env;
  }

  begin(): void {
    this.forget();
    this.onceCache.clear();
    this.nowNs = undefined;
    this.#steps = 0;
    this.#size = 0;
    this.#nextCheck = checkEvery;
    this.#startMs = this.env.monotonicMs();
    if (this.signal?.aborted) throw new RegoError("eval_cancel_error", "caller cancelled query execution");
  }

  /** For doing the same evaluation again: the limits go on counting, and what came from outside stays the same. */
  forget(): void {
    this.memo = [];
    this.overrides = undefined;
    this.mocks = undefined;
    this.builtinErrors = [];
    this.depth = 0;
  }

  get steps(): number {
    return this.#steps;
  }

  /** Counts one instruction; now and then looks at the clock and the caller's signal. */
  step(): void {
    if (++this.#steps >= this.#nextCheck) this.#check();
  }

  /** Accounts for the size of a value that was made. */
  grow(size: number): void {
    this.#size += size;
    if (this.#size > this.limits.maxResultSize) {
      throw new RegoError(
        "eval_limit_error",
        `result size limit of ${this.limits.maxResultSize} exceeded`,
        this.location,
      );
    }
    this.#steps += size >>> 4;
    if (this.#steps >= this.#nextCheck) this.#check();
  }

  enter(): void {
    if (++this.depth > this.limits.maxCallDepth) {
      throw new RegoError(
        "eval_limit_error",
        `call depth limit of ${this.limits.maxCallDepth} exceeded`,
        this.location,
      );
    }
  }

  leave(): void {
    this.depth--;
  }

  #check(): void {
    if (this.#steps > this.limits.maxInstructions) {
      throw new RegoError(
        "eval_limit_error",
        `instruction limit of ${this.limits.maxInstructions} exceeded`,
        this.location,
      );
    }
    if (this.signal?.aborted)
      throw new RegoError("eval_cancel_error", "caller cancelled query execution", this.location);
    if (this.env.monotonicMs() - this.#startMs > this.limits.maxDurationMs) {
      throw new RegoError("eval_limit_error", `time limit of ${this.limits.maxDurationMs} ms exceeded`, this.location);
    }
    this.#nextCheck = this.#steps + checkEvery;
  }
}

export interface MemoEntry {
  /** The whole document; undefined means that it is undefined. */
  whole: Value | undefined;
  hasWhole: boolean;
  /** Parts of it, or results of a function, by the text of the keys. */
  byKey: Map<unknown, Value | undefined> | undefined;
}
