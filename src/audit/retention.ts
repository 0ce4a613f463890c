import type { Env } from "../env/env.ts";
import type { Database } from "../store/database.ts";
import { checkpointOf, signRetirement } from "./checkpoint.ts";
import type { AuditSigner } from "./signing-key.ts";
import type { AuditTrail } from "./trail.ts";
import { verifyTrail } from "./verify.ts";

export interface RetentionOptions {
  readonly env: Env;
  readonly database: Database;
  readonly trail: AuditTrail;
  readonly signer: AuditSigner;
  readonly keepMs: number;
  /** Who asked for it. */
  readonly actor: string;
}

export type Retired =
  | { readonly kind: "Retired"; readonly segments: number; readonly entries: number }
  /** A trail that was tampered with is evidence; nothing of it is removed. */
  | { readonly kind: "Refused"; readonly message: string };

/** Removes whole segments whose last row is older than the limit, after the whole trail was found to be true. */
export async function retireSegments(options: RetentionOptions): Promise<Retired> {
  const { env, database, signer, keepMs } = options;
  const report = await verifyTrail(database, { verifiers: [signer] });
  const [problem] = report.problems;
  if (problem) return { kind: "Refused", message: `nothing was removed: ${problem.message}` };
  const now = env.now();
  const before = new Date(now.getTime() - keepMs).toISOString();
  const rows = await database.query(
    "SELECT * FROM audit_checkpoints WHERE retired_time = '' AND time < ? ORDER BY sequence",
    [before],
  );
  const old = rows.map(checkpointOf);
  const last = old.at(-1);
  if (last === undefined) return { kind: "Retired", segments: 0, entries: 0 };
  // The row that tells of it comes first: should we be interrupted, a retirement that was told of is done again.
  await options.trail.append([
    {
      id: `retire/${last.sequence}/${last.hash}`,
      time: now,
      actor: options.actor,
      verb: "retire",
      object: { kind: "AuditTrail", name: `rows-to-${last.sequence}` },
      result: "Removed",
      details: { segments: old.length, keepMs },
    },
  ]);
  return database.transaction(async (transaction) => {
    for (const checkpoint of old) {
      const { time, keyId, signature } = signRetirement(signer, checkpoint, now.toISOString());
      await transaction.query(
        "UPDATE audit_checkpoints SET retired_time = ?, retired_key_id = ?, retired_signature = ? WHERE sequence = ?",
        [time, keyId, signature, checkpoint.sequence],
      );
    }
    const [count] = await transaction.query("SELECT count(*) AS total FROM audit_entries WHERE sequence <= ?", [
      last.sequence,
    ]);
    await transaction.query("DELETE FROM audit_entries WHERE sequence <= ?", [last.sequence]);
    return { kind: "Retired", segments: old.length, entries: Number(count?.["total"]) };
  });
}
