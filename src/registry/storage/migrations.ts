import type { Migration } from "../../store/database.ts";

/** The registry's tables. A service points to its last change, which the log keeps for as long as it is the last. */
export const registryMigrations: readonly Migration[] = [
  {
    version: 1,
    name: "services, their changes and heartbeats",
    sqlite: `
      CREATE TABLE registry_head (id INTEGER PRIMARY KEY CHECK (id = 0), sequence INTEGER NOT NULL, pruned INTEGER NOT NULL) STRICT;
      INSERT INTO registry_head (id, sequence, pruned) VALUES (0, 0, 0);
      CREATE TABLE registry_services (id TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE registry_changes (sequence INTEGER PRIMARY KEY, batch TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, at_ms INTEGER NOT NULL, body TEXT) STRICT;
      CREATE TABLE registry_beats (id TEXT PRIMARY KEY, last_seen_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    postgres: `
      CREATE TABLE registry_head (id INTEGER PRIMARY KEY CHECK (id = 0), sequence BIGINT NOT NULL, pruned BIGINT NOT NULL);
      INSERT INTO registry_head (id, sequence, pruned) VALUES (0, 0, 0);
      CREATE TABLE registry_services (id TEXT PRIMARY KEY, sequence BIGINT NOT NULL) WITH (fillfactor = 70);
      CREATE TABLE registry_changes (sequence BIGINT PRIMARY KEY, batch TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, at_ms BIGINT NOT NULL, body TEXT);
      CREATE TABLE registry_beats (id TEXT PRIMARY KEY, last_seen_ms BIGINT NOT NULL) WITH (fillfactor = 50)`,
  },
];
