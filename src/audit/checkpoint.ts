import type { Row } from "../store/database.ts";
import type { AuditSigner, AuditVerifier } from "./signing-key.ts";

/** A signed statement: up to this row the trail was exactly so. It closes a segment, which begins behind the one before. */
export interface Checkpoint {
  readonly sequence: number;
  readonly hash: string;
  /** The checkpoint before; 0 for the first. */
  readonly previous: number;
  readonly time: string;
  readonly keyId: string;
  readonly signature: string;
  /** Set when the segment's rows were removed because they were old enough. */
  readonly retired?: Retirement;
}

export interface Retirement {
  readonly time: string;
  readonly keyId: string;
  readonly signature: string;
}

/** The signed end of the trail, renewed with every write, so that a cut-off tail is noticed. */
export interface Head {
  readonly sequence: number;
  readonly hash: string;
  /** The last checkpoint; 0 when there is none. */
  readonly checkpoint: number;
  readonly time: string;
  readonly keyId: string;
  readonly signature: string;
}

export function signCheckpoint(signer: AuditSigner, facts: Omit<Checkpoint, "keyId" | "signature">): Checkpoint {
  return { ...facts, keyId: signer.keyId, signature: signer.sign(checkpointText(facts)) };
}

export function signRetirement(signer: AuditSigner, checkpoint: Checkpoint, time: string): Retirement {
  return { time, keyId: signer.keyId, signature: signer.sign(retirementText(checkpoint, time)) };
}

export function signHead(signer: AuditSigner, facts: Omit<Head, "keyId" | "signature">): Head {
  return { ...facts, keyId: signer.keyId, signature: signer.sign(headText(facts)) };
}

export type Verifiers = readonly AuditVerifier[];

export const isGenuineCheckpoint = (checkpoint: Checkpoint, verifiers: Verifiers): boolean =>
  isSigned(checkpointText(checkpoint), checkpoint, verifiers);

export const isGenuineRetirement = (checkpoint: Checkpoint, retired: Retirement, verifiers: Verifiers): boolean =>
  isSigned(retirementText(checkpoint, retired.time), retired, verifiers);

export const isGenuineHead = (head: Head, verifiers: Verifiers): boolean => isSigned(headText(head), head, verifiers);

const checkpointText = ({
  sequence,
  hash,
  previous,
  time,
}: Pick<Checkpoint, "sequence" | "hash" | "previous" | "time">) =>
  JSON.stringify(["capstan audit checkpoint", sequence, hash, previous, time]);

const retirementText = ({ sequence, hash }: Checkpoint, time: string): string =>
  JSON.stringify(["capstan audit retirement", sequence, hash, time]);

const headText = ({ sequence, hash, checkpoint, time }: Pick<Head, "sequence" | "hash" | "checkpoint" | "time">) =>
  JSON.stringify(["capstan audit head", sequence, hash, checkpoint, time]);

function isSigned(
  text: string,
  { keyId, signature }: { readonly keyId: string; readonly signature: string },
  verifiers: Verifiers,
): boolean {
  return verifiers.find((verifier) => verifier.keyId === keyId)?.verify(text, signature) ?? false;
}

export function checkpointOf(row: Row): Checkpoint {
  const retiredTime = String(row["retired_time"] ?? "");
  return {
    sequence: Number(row["sequence"]),
    hash: String(row["hash"]),
    previous: Number(row["previous"]),
    time: String(row["time"]),
    keyId: String(row["key_id"]),
    signature: String(row["signature"]),
    ...(retiredTime !== "" && {
      retired: {
        time: retiredTime,
        keyId: String(row["retired_key_id"] ?? ""),
        signature: String(row["retired_signature"] ?? ""),
      },
    }),
  };
}

export const headOf = (row: Row): Head => ({
  sequence: Number(row["sequence"]),
  hash: String(row["hash"]),
  checkpoint: Number(row["checkpoint"]),
  time: String(row["time"]),
  keyId: String(row["key_id"]),
  signature: String(row["signature"]),
});
