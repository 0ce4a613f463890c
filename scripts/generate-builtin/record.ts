// Asks a real server what it makes of the corpus. The answers are kept beside the sources, so that the ordinary tests
// can compare without a real server; the machine tests ask again.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import discovery from "../../src/apiserver/builtin/discovery.generated.json" with { type: "json" };
import type { RealServer } from "../cluster/api-server.ts";

type Json = { readonly [field: string]: unknown };

export interface RecordedCreate {
  readonly given: Json;
  readonly status: number;
  readonly answer: Json;
  /** The texts of the Warning headers. */
  readonly warnings: readonly string[];
}

export interface RecordedUpdate {
  /** `status`, or empty for the object itself. */
  readonly subresource: string;
  readonly created: Json;
  /** A merge patch of the object as it was. */
  readonly change: Json;
  readonly status: number;
  readonly answer: Json;
}

export interface RecordedTable {
  readonly object: Json;
  /** When the answer was given. */
  readonly now: string;
  readonly columns: readonly Json[];
  readonly cells: readonly unknown[];
}

export interface Recorded {
  readonly creates: readonly RecordedCreate[];
  readonly refusals: readonly RecordedCreate[];
  readonly updates: readonly RecordedUpdate[];
  readonly tables: readonly RecordedTable[];
}

const namespace = "default";

export async function record(server: RealServer): Promise<Recorded> {
  for (const name of ["default", "runner", "old"]) {
    await server.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  }
  const creates = await recordCreates(server, corpus("creates"));
  const refusals = await recordCreates(server, variations("refusals"));
  const updates = await recordUpdates(server, corpus("updates") as readonly unknown[] as readonly UpdateCase[]);
  const tables = await recordTables(server, corpus("tables"));
  return { creates, refusals, updates, tables };
}

function corpus(name: string): readonly Json[] {
  return (
    parse(readFileSync(join(import.meta.dirname, "corpus", `${name}.yaml`), "utf8"), {
      merge: true,
      maxAliasCount: -1,
    }) ?? []
  );
}

interface Variations {
  readonly bases: Readonly<Record<string, Json>>;
  readonly cases: readonly { readonly like: string; readonly with: Json }[];
}

/** Cases that differ from a base in one thing, written as merge patches. */
function variations(name: string): readonly Json[] {
  const { bases, cases } = corpus(name) as unknown as Variations;
  return cases.map(({ like, with: change }) => {
    const base = bases[like];
    if (!base) throw new Error(`${name}.yaml has no base ${like}`);
    return merge(base, change) as Json;
  });
}

async function recordCreates(server: RealServer, objects: readonly Json[]): Promise<readonly RecordedCreate[]> {
  const recorded: RecordedCreate[] = [];
  for (const given of objects) {
    const { collection } = pathOf(given);
    const answer = await server.call("POST", `${collection}?dryRun=All`, given);
    const warnings = warningTexts(answer.headers["warning"]);
    recorded.push({ given, status: answer.status, answer: tidy(answer.json() as Json), warnings });
  }
  return recorded;
}

/** `299 - "text", 299 - "text"` */
function warningTexts(header: string | readonly string[] | undefined): readonly string[] {
  const text = Array.isArray(header) ? header.join(", ") : String(header ?? "");
  return [...text.matchAll(/299 - ("(?:[^"\\]|\\.)*")/g)].map(([, quoted = '""']) => JSON.parse(quoted) as string);
}

interface UpdateCase {
  readonly object: Json;
  /** Merge patches, each tried alone. */
  readonly changes?: readonly Json[];
  /** Merge patches of what is written to /status; each is kept, and the next one builds on it. */
  readonly statusChanges?: readonly Json[];
}

async function recordUpdates(server: RealServer, cases: readonly UpdateCase[]): Promise<readonly RecordedUpdate[]> {
  const recorded: RecordedUpdate[] = [];
  for (const { object, changes = [], statusChanges = [] } of cases) {
    const { collection, item } = pathOf(object);
    const created = await server.call("POST", collection, object);
    if (created.status !== 201) throw new Error(`${item} was not created: ${created.text}`);
    const before = created.json() as Json;
    for (const change of changes) {
      recorded.push(await recordUpdate(server, item, change, ""));
    }
    for (const change of statusChanges) recorded.push(await recordUpdate(server, item, change, "status"));
    await server.call("DELETE", item, {
      gracePeriodSeconds: 0,
      preconditions: { uid: (before["metadata"] as Json)["uid"] },
    });
  }
  return recorded;
}

/** The server itself writes to some objects (it accepts names of a definition), so that a write may come too late. */
async function recordUpdate(
  server: RealServer,
  item: string,
  change: Json,
  subresource: string,
): Promise<RecordedUpdate> {
  const path = subresource === "" ? `${item}?dryRun=All` : `${item}/${subresource}`;
  for (;;) {
    const current = (await server.call("GET", item)).json() as Json;
    const given = merge(current, change) as Json;
    const answer = await server.call("PUT", path, given);
    if (answer.status === 409) continue;
    return {
      subresource,
      created: tidy(current, true),
      change,
      status: answer.status,
      answer: tidy(answer.json() as Json, true),
    };
  }
}

async function recordTables(server: RealServer, objects: readonly Json[]): Promise<readonly RecordedTable[]> {
  const recorded: RecordedTable[] = [];
  for (const object of objects) {
    const { collection, item } = pathOf(object);
    const created = await server.call("POST", collection, object);
    if (created.status !== 201) throw new Error(`${item} was not created: ${created.text}`);
    if (object["status"] !== undefined) {
      const current = created.json() as Json;
      await server.call("PUT", `${item}/status`, {
        ...current,
        status: { ...(current["status"] as Json), ...(object["status"] as Json) },
      });
    }
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const answer = await server.call("GET", `${item}?includeObject=Object`, undefined, { accept });
    const table = answer.json() as {
      columnDefinitions: readonly Json[];
      rows: readonly { cells: readonly unknown[]; object: Json }[];
    };
    const row = table.rows[0];
    if (!row) throw new Error(`no row for ${item}: ${answer.text}`);
    recorded.push({
      object: tidy(row.object, true),
      now: new Date(String(answer.headers["date"])).toISOString(),
      columns: table.columnDefinitions.map(({ description: _, ...column }) => column),
      cells: row.cells,
    });
    await server.call("DELETE", item, { gracePeriodSeconds: 0 });
  }
  return recorded;
}

function pathOf(object: Json): { readonly collection: string; readonly item: string } {
  const found = discovery.find(
    ({ group, version, kind }) =>
      kind === object["kind"] && (group === "" ? version : `${group}/${version}`) === object["apiVersion"],
  );
  if (!found) throw new Error(`${object["apiVersion"]} ${object["kind"]} is not served`);
  const root = found.group === "" ? `/api/${found.version}` : `/apis/${found.group}/${found.version}`;
  const collection = `${root}${found.namespaced ? `/namespaces/${namespace}` : ""}/${found.plural}`;
  const name = (object["metadata"] as Json | undefined)?.["name"];
  return { collection, item: `${collection}/${encodeURIComponent(String(name))}` };
}

export function merge(target: unknown, change: unknown): unknown {
  if (typeof change !== "object" || change === null || Array.isArray(change)) return change;
  const result: Record<string, unknown> =
    typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

/** Leaves out what another part of the server answers for, and what only makes the recording large. */
function tidy(answer: Json, keepVersion = false): Json {
  if (answer["kind"] === "Status") return { message: answer["message"] };
  const { managedFields: _fields, resourceVersion, ...metadata } = answer["metadata"] as Json;
  return { ...answer, metadata: { ...metadata, ...(keepVersion && { resourceVersion }) } };
}
