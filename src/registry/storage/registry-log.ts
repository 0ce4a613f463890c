import type { Change, NewChange } from "../model/change.ts";
import type { Instance } from "../model/instance.ts";

/**
 * Where the registry keeps what must survive: a numbered log of changes, the newest state of each service, and the last
 * heartbeats. Any number of replicas may share one; their changes get one order.
 */
export interface RegistryLog {
  load(): Promise<Loaded>;
  /**
   * One transaction that shuts every other writer out: hands over what was committed after `applied`, asks for the changes
   * to make on top of it, numbers them and makes them durable. The heartbeats of `confirm` are read in the same breath.
   */
  commit(asked: CommitRequest): Promise<readonly Change[]>;
  /** Changes after a number, oldest first. `oldest` is the first number that is still kept. */
  changesAfter(
    sequence: number,
    limit: number,
  ): Promise<{ readonly changes: readonly Change[]; readonly oldest: number }>;
  saveBeats(beats: readonly Beat[]): Promise<void>;
  /** Calls back about what other replicas do, until stopped. */
  follow(follower: Follower): Promise<() => Promise<void>>;
  /** Forgets changes up to a number, so that the log does not grow for ever. */
  prune(upTo: number): Promise<void>;
}

export interface Loaded {
  readonly sequence: number;
  readonly services: readonly { readonly instance: Instance; readonly lastSeenMs: number | undefined }[];
}

export interface CommitRequest {
  readonly applied: number;
  /** Services whose heartbeats at other replicas matter for the decision. */
  readonly confirm: readonly string[];
  /** Must be pure in what it has been told: it is called again when the transaction has to be repeated. */
  readonly decide: (missed: readonly Change[], beatAgesMs: ReadonlyMap<string, number>) => readonly NewChange[];
}

export interface Beat {
  readonly id: string;
  /** How long ago, so that the clocks of replicas need not agree. */
  readonly ageMs: number;
}

export interface Follower {
  /** The log has come at least this far. */
  onChanges(sequence: number): void;
  onBeats(ids: readonly string[]): void;
  /** News may have been missed: look into the log. */
  onGap(): void;
}

/** The log no longer has what this replica has missed; it must load everything again. */
export class LogBehindError extends Error {
  constructor(sequence: number) {
    super(`the registry's log no longer reaches back to change ${sequence}`);
    this.name = "LogBehindError";
  }
}
