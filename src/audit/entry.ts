/** One row of the trail: who did what to which object, and what came of it. */
export interface AuditRecord {
  /** Names the happening, not the row: writing the same happening again adds nothing. */
  readonly id: string;
  readonly time: Date;
  readonly actor: string;
  /** What was done: `transition`, `approve`, `create-job` and so on. */
  readonly verb: string;
  readonly object: AuditedObject;
  readonly result: string;
  /** Anything else worth keeping; redacted before it is written. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditedObject {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

/** A row as it is stored: every field is under the hash, and the hash before it is too. */
export interface AuditEntry {
  readonly sequence: number;
  readonly id: string;
  readonly time: string;
  readonly actor: string;
  readonly verb: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly result: string;
  /** JSON with sorted keys. */
  readonly details: string;
  readonly previousHash: string;
  readonly hash: string;
}

export const objectText = ({
  kind,
  namespace,
  name,
}: {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}): string => `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
