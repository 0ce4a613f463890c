import type pg from "pg";
import type { WriteStep } from "./database.ts";
import { insertStatements, nameOf, type Statement } from "./postgres-insert.ts";
import { toDollars, toStoreError } from "./postgres-text.ts";
import { StoreError } from "./store-error.ts";

/**
 * A transaction in one turn: every step is sent as soon as it is made, and the commit behind the last one, without waiting
 * for a single answer. Once a step has failed the server passes over all that follow and makes the commit a rollback; a
 * guard that finds no row therefore fails on purpose.
 */
export async function writeAtOnce(client: pg.ClientBase, steps: Iterable<WriteStep>): Promise<boolean> {
  const answers: Promise<unknown>[] = [client.query("BEGIN")];
  let unmade: { readonly error: unknown } | undefined;
  try {
    for (const step of steps)
      if (step.kind === "Guard") answers.push(guarded(client, step));
      else for (const statement of insertStatements(step)) answers.push(sent(client, statement));
  } catch (error) {
    unmade = { error };
  }
  const last = unmade ? "ROLLBACK" : "COMMIT";
  answers.push(client.query(last));
  const objection = (await Promise.allSettled(answers)).find((answer) => answer.status === "rejected")?.reason;
  if (objection instanceof GuardMissed) return false;
  if (objection !== undefined && unmade === undefined) throw faultOf(objection);
  if (unmade !== undefined) throw objection === undefined ? unmade.error : toStoreError(objection, "rollback");
  return true;
}

const sent = (client: pg.ClientBase, { values, ...statement }: Statement): Promise<unknown> =>
  client.query(statement, [...values]);

/** Dividing by zero is how a statement can fail by itself. */
function guarded(client: pg.ClientBase, { sql, values }: Extract<WriteStep, { kind: "Guard" }>): Promise<unknown> {
  const text = `WITH changed AS (${toDollars(sql)} RETURNING 1) SELECT 1 / (CASE count(*) WHEN 1 THEN 1 ELSE 0 END) FROM changed`;
  return sent(client, { name: nameOf(text), text, values }).catch((error: unknown) => {
    throw (error as { code?: unknown }).code === divisionByZero ? new GuardMissed() : error;
  });
}
const divisionByZero = "22012";

/** A guard found no row: everything is rolled back, and nobody hears of it. */
class GuardMissed extends Error {}

/** The first objection of the server decides. Without one the commit was on its way, and nobody can say whether it arrived. */
function faultOf(error: unknown): Error {
  const known = toStoreError(error, "write");
  const saidByServer = typeof (error as { code?: unknown }).code === "string" && "severity" in (error as object);
  const isLost = known instanceof StoreError && known.reason === "Unavailable" && !saidByServer;
  return isLost ? new StoreError("CommitUnknown", `PostgreSQL: commit: ${known.message}`, { cause: error }) : known;
}
