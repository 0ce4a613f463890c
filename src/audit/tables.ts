import type { Migration, Row } from "../store/database.ts";
import type { AuditEntry } from "./entry.ts";

/** Every index is paid for with every row; a name is what people search for, and it leaves little to sift. */
const byNameOnly =
  "DROP INDEX audit_entries_by_object; DROP INDEX audit_entries_by_time; CREATE INDEX audit_entries_by_name ON audit_entries (name)";

/** The tables of the trail. Rows can be added; they can be removed only with a segment that is marked as retired. */
export const auditMigrations: readonly Migration[] = [
  {
    version: 1,
    name: "entries, checkpoints and the head",
    sqlite: `${tables("INTEGER", " STRICT")}
      CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
        BEGIN SELECT RAISE(ABORT, 'audit entries cannot be changed'); END;
      CREATE TRIGGER audit_entries_kept BEFORE DELETE ON audit_entries
        WHEN NOT EXISTS (SELECT 1 FROM audit_checkpoints WHERE sequence >= OLD.sequence AND retired_time <> '')
        BEGIN SELECT RAISE(ABORT, 'audit entries are removed only with their whole segment'); END;
      CREATE TRIGGER audit_checkpoints_kept BEFORE DELETE ON audit_checkpoints
        BEGIN SELECT RAISE(ABORT, 'audit checkpoints cannot be removed'); END;`,
    postgres: `${tables("BIGINT", "")}
      CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$;
      CREATE FUNCTION audit_refuse_unretired() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NOT EXISTS (SELECT 1 FROM audit_checkpoints WHERE sequence >= OLD.sequence AND retired_time <> '') THEN
            RAISE EXCEPTION 'audit entries are removed only with their whole segment';
          END IF;
          RETURN OLD;
        END $$;
      CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION audit_refuse();
      CREATE TRIGGER audit_entries_kept BEFORE DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION audit_refuse_unretired();
      CREATE TRIGGER audit_checkpoints_kept BEFORE DELETE ON audit_checkpoints FOR EACH ROW EXECUTE FUNCTION audit_refuse();`,
  },
  {
    version: 2,
    name: "rows are looked for by the name of their object only",
    sqlite: byNameOnly,
    postgres: byNameOnly,
  },
];

function tables(integer: string, suffix: string): string {
  return `
    CREATE TABLE audit_entries (
      sequence ${integer} PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      time TEXT NOT NULL,
      actor TEXT NOT NULL,
      verb TEXT NOT NULL,
      kind TEXT NOT NULL,
      namespace TEXT NOT NULL,
      name TEXT NOT NULL,
      uid TEXT NOT NULL,
      result TEXT NOT NULL,
      details TEXT NOT NULL,
      previous_hash TEXT NOT NULL,
      hash TEXT NOT NULL
    )${suffix};
    CREATE INDEX audit_entries_by_object ON audit_entries (kind, namespace, name);
    CREATE INDEX audit_entries_by_time ON audit_entries (time);
    CREATE TABLE audit_checkpoints (
      sequence ${integer} PRIMARY KEY,
      hash TEXT NOT NULL,
      previous ${integer} NOT NULL,
      time TEXT NOT NULL,
      key_id TEXT NOT NULL,
      signature TEXT NOT NULL,
      retired_time TEXT NOT NULL DEFAULT '',
      retired_key_id TEXT NOT NULL DEFAULT '',
      retired_signature TEXT NOT NULL DEFAULT ''
    )${suffix};
    CREATE TABLE audit_head (
      only_row ${integer} PRIMARY KEY CHECK (only_row = 1),
      sequence ${integer} NOT NULL,
      hash TEXT NOT NULL,
      checkpoint ${integer} NOT NULL,
      time TEXT NOT NULL,
      key_id TEXT NOT NULL,
      signature TEXT NOT NULL
    )${suffix};`;
}

export const entryColumns = [
  "sequence",
  "id",
  "time",
  "actor",
  "verb",
  "kind",
  "namespace",
  "name",
  "uid",
  "result",
  "details",
  "previous_hash",
  "hash",
] as const;

export const entryValues = (entry: AuditEntry): readonly (string | number)[] => [
  entry.sequence,
  entry.id,
  entry.time,
  entry.actor,
  entry.verb,
  entry.kind,
  entry.namespace,
  entry.name,
  entry.uid,
  entry.result,
  entry.details,
  entry.previousHash,
  entry.hash,
];

export const entryOf = (row: Row): AuditEntry => ({
  sequence: Number(row["sequence"]),
  id: String(row["id"]),
  time: String(row["time"]),
  actor: String(row["actor"]),
  verb: String(row["verb"]),
  kind: String(row["kind"]),
  namespace: String(row["namespace"]),
  name: String(row["name"]),
  uid: String(row["uid"]),
  result: String(row["result"]),
  details: String(row["details"]),
  previousHash: String(row["previous_hash"]),
  hash: String(row["hash"]),
});
