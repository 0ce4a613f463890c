import type { AuditRecord } from "../../src/audit/entry.ts";
import type { AuditTrail } from "../../src/audit/trail.ts";
import { type Env, sleep } from "../../src/env/env.ts";
import type { Journal } from "./journal.ts";

/** The rows of one run's audit trail: a database that outlives every process, and takes a moment to answer. */
export interface MemoryTrail {
  readonly rows: readonly (AuditRecord & { readonly atMs: number })[];
  /** As one process reaches it: when that has died, nothing more arrives and no answer comes. */
  readonly of: (env: Env) => AuditTrail;
}

export function memoryTrail(base: Env, journal: Journal): MemoryTrail {
  const rows: (AuditRecord & { readonly atMs: number })[] = [];
  return {
    rows,
    of: (env) => ({
      async append(records) {
        await sleep(env, 2);
        const fresh = records.filter(({ id }) => !rows.some((row) => row.id === id));
        for (const record of fresh) {
          rows.push({ ...record, atMs: base.monotonicMs() });
          journal.note(`audit ${record.verb} ${record.result} ${record.object.name}`);
        }
        await sleep(env, 2);
        return fresh.length;
      },
    }),
  };
}
