import type { Database } from "../store/database.ts";
import { genesisHash, hashOf } from "./chain.ts";
import {
  type Checkpoint,
  checkpointOf,
  type Head,
  headOf,
  isGenuineCheckpoint,
  isGenuineHead,
  isGenuineRetirement,
  type Verifiers,
} from "./checkpoint.ts";
import type { AuditEntry } from "./entry.ts";
import { missingTables, readEntries } from "./read-trail.ts";

export type AuditProblemKind =
  | "Changed"
  | "Missing"
  | "Unlinked"
  | "Truncated"
  | "Unsigned"
  | "CheckpointForged"
  | "CheckpointMissing"
  | "HeadForged"
  | "HeadMissing"
  | "TableMissing"
  | "NotTheExpectedTrail";

export interface AuditProblem {
  readonly kind: AuditProblemKind;
  /** The row where it shows. */
  readonly sequence: number;
  readonly message: string;
}

export interface AuditReport {
  readonly entries: number;
  readonly checkpoints: number;
  readonly first: number;
  readonly last: number;
  readonly lastHash: string;
  /** Empty when the trail is whole; at most a hundred. */
  readonly problems: readonly AuditProblem[];
}

export interface VerifyOptions {
  readonly verifiers: Verifiers;
  /** A row that somebody noted elsewhere: without one, a whole old copy of the database looks whole. */
  readonly expect?: { readonly sequence: number; readonly hash: string };
}

/** Reads the whole trail and says where it was tampered with. */
export async function verifyTrail(database: Database, options: VerifyOptions): Promise<AuditReport> {
  const missing = await missingTables(database);
  if (missing.length > 0) return nothingLeft(missing);
  const rows = await database.query("SELECT * FROM audit_checkpoints ORDER BY sequence");
  const checkpoints = rows.map(checkpointOf);
  const [headRow] = await database.query("SELECT * FROM audit_head");
  const walk = new Walk(checkpoints, headRow && headOf(headRow), options);
  walk.begin();
  for await (const entry of readEntries(database)) {
    walk.visit(entry);
    if (walk.problems.length >= maxProblems) break;
  }
  return walk.end();
}

const nothingLeft = (missing: readonly string[]): AuditReport => ({
  entries: 0,
  checkpoints: 0,
  first: 0,
  last: 0,
  lastHash: genesisHash,
  problems: missing.map((name) => ({ kind: "TableMissing", sequence: 1, message: `the table ${name} is not there` })),
});

const maxProblems = 100;

class Walk {
  readonly problems: AuditProblem[] = [];
  readonly #checkpoints: readonly Checkpoint[];
  readonly #atRow: ReadonlyMap<number, Checkpoint>;
  readonly #head: Head | undefined;
  readonly #options: VerifyOptions;
  #entries = 0;
  #first = 0;
  #last = 0;
  #lastHash = genesisHash;
  #sawExpected = false;

  constructor(checkpoints: readonly Checkpoint[], head: Head | undefined, options: VerifyOptions) {
    this.#checkpoints = checkpoints;
    this.#atRow = new Map(checkpoints.map((checkpoint) => [checkpoint.sequence, checkpoint]));
    this.#head = head;
    this.#options = options;
  }

  begin(): void {
    const { verifiers } = this.#options;
    let previous = 0;
    for (const checkpoint of this.#checkpoints) {
      const { sequence, retired } = checkpoint;
      if (!isGenuineCheckpoint(checkpoint, verifiers))
        this.#say("CheckpointForged", sequence, `the checkpoint at row ${sequence} does not carry our signature`);
      else if (checkpoint.previous !== previous)
        this.#say(
          "CheckpointMissing",
          checkpoint.previous,
          `the checkpoint at row ${sequence} follows one at row ${checkpoint.previous}, which is not there`,
        );
      if (retired !== undefined && !isGenuineRetirement(checkpoint, retired, verifiers))
        this.#say(
          "CheckpointForged",
          sequence,
          `the retirement of the rows up to ${sequence} does not carry our signature`,
        );
      previous = sequence;
    }
    // Retired segments are gone by right: the chain goes on from the last one's signed hash.
    const start = this.#checkpoints.findLast(({ retired }) => retired !== undefined);
    if (start) [this.#last, this.#lastHash] = [start.sequence, start.hash];
    this.#noteExpected(this.#last, this.#lastHash);
  }

  visit(entry: AuditEntry): void {
    const { sequence, previousHash, hash } = entry;
    if (this.#entries === 0) this.#first = sequence;
    this.#entries++;
    if (sequence <= this.#last) {
      this.#say("Unsigned", sequence, `row ${sequence} stands where rows were retired`);
      return;
    }
    if (sequence !== this.#last + 1) {
      this.#say("Missing", this.#last + 1, `${rowsText(this.#last + 1, sequence - 1, "is", "are")} missing`);
    } else if (previousHash !== this.#lastHash) {
      this.#say("Unlinked", sequence, `row ${sequence} does not follow the row before it`);
    }
    if (hashOf(entry) !== hash) this.#say("Changed", sequence, `row ${sequence} was changed after it was written`);
    const checkpoint = this.#atRow.get(sequence);
    if (checkpoint && checkpoint.hash !== hash)
      this.#say("Changed", sequence, `row ${sequence} is not the one that its checkpoint was signed for`);
    [this.#last, this.#lastHash] = [sequence, hash];
    this.#noteExpected(sequence, hash);
  }

  end(): AuditReport {
    if (this.problems.length < maxProblems) this.#judgeEnd();
    return {
      entries: this.#entries,
      checkpoints: this.#checkpoints.length,
      first: this.#first,
      last: this.#last,
      lastHash: this.#lastHash,
      problems: this.problems,
    };
  }

  #judgeEnd(): void {
    const head = this.#head;
    const { verifiers, expect } = this.#options;
    const newest = this.#checkpoints.at(-1)?.sequence ?? 0;
    if (newest > this.#last)
      this.#say("Truncated", this.#last + 1, `the checkpoint at row ${newest} has rows that are not there`);
    if (head === undefined) this.#say("HeadMissing", this.#last, "the signed end of the trail is not there");
    else if (!isGenuineHead(head, verifiers))
      this.#say("HeadForged", head.sequence, "the end of the trail does not carry our signature");
    else if (head.sequence > this.#last)
      this.#say("Truncated", this.#last + 1, `${rowsText(this.#last + 1, head.sequence, "was", "were")} cut off`);
    else if (head.sequence < this.#last)
      this.#say(
        "Unsigned",
        head.sequence + 1,
        `${rowsText(head.sequence + 1, this.#last, "was", "were")} added by somebody else`,
      );
    else if (head.hash !== this.#lastHash)
      this.#say("Changed", head.sequence, `row ${head.sequence} is not the one that the end was signed for`);
    else if (head.checkpoint !== newest)
      this.#say("CheckpointMissing", head.checkpoint, `the checkpoint at row ${head.checkpoint} is missing`);
    if (expect && !this.#sawExpected)
      this.#say(
        "NotTheExpectedTrail",
        expect.sequence,
        `row ${expect.sequence} does not have the hash that was noted: this is another trail, or an old copy`,
      );
  }

  #noteExpected(sequence: number, hash: string): void {
    const { expect } = this.#options;
    if (expect?.sequence === sequence && expect.hash === hash) this.#sawExpected = true;
  }

  #say(kind: AuditProblemKind, sequence: number, message: string): void {
    if (this.problems.length < maxProblems) this.problems.push({ kind, sequence, message });
  }
}

const rowsText = (from: number, to: number, one: string, many: string): string =>
  from === to ? `row ${from} ${one}` : `rows ${from} to ${to} ${many}`;
