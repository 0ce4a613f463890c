import type { Insert, SqlValue } from "./database.ts";

export interface Statement {
  /** The same for the same text: the server keeps what it has made of it. */
  readonly name?: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/**
 * One statement for many rows; pure. A column goes as one array wherever its values have one type, so that the text is
 * the same for any number of rows: the server reads it once instead of reading thousands of placeholders each time.
 */
export function insertStatements(insert: Insert): readonly Statement[] {
  const { columns, rows } = insert;
  if (rows.length === 0) return [];
  const types = columns.map((_, index) => typeOf(rows, index));
  return types.every((type) => type !== undefined) ? [byColumns(insert, types)] : byValues(insert);
}

type ArrayType = "bigint" | "text";

/** Undefined: mixed, bytes, or nothing at all; then each value has to say itself what it is. */
function typeOf(rows: Insert["rows"], index: number): ArrayType | undefined {
  let type: ArrayType | undefined;
  for (const row of rows) {
    const value = row[index];
    if (value === null) continue;
    const own = typeof value === "number" ? "bigint" : typeof value === "string" ? "text" : undefined;
    if (own === undefined || own !== (type ?? own)) return undefined;
    type = own;
  }
  return type;
}

function byColumns({ table, columns, rows, onConflict = "" }: Insert, types: readonly ArrayType[]): Statement {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(", ");
  const text = `INSERT INTO ${table} (${columns.join(", ")}) SELECT * FROM unnest(${arrays}) ${onConflict}`;
  return { name: nameOf(text), text, values: columns.map((_, index) => arrayText(rows, index)) };
}

/** PostgreSQL's spelling of an array. */
function arrayText(rows: Insert["rows"], index: number): string {
  let items = "";
  for (const row of rows) {
    const value = row[index] ?? null;
    const item = typeof value === "string" ? `"${value.replace(quoted, "\\$&")}"` : (value ?? "NULL");
    items += items === "" ? item : `,${item}`;
  }
  return `{${items}}`;
}
const quoted = /["\\]/g;

function byValues({ table, columns, rows, onConflict = "" }: Insert): readonly Statement[] {
  const perStatement = Math.max(1, Math.floor(maxParameters / columns.length));
  const statements: Statement[] = [];
  for (let start = 0; start < rows.length; start += perStatement) {
    const part = rows.slice(start, start + perStatement);
    let index = 0;
    const tuples = part.map((row) => `(${row.map(() => `$${++index}`).join(",")})`).join(",");
    statements.push({
      text: `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${tuples} ${onConflict}`,
      values: part.flat(),
    });
  }
  return statements;
}

/** Short, because the server knows names of up to 63 characters only; statements are few, and stay with their connection. */
export function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `capstan_${names.size + 1}`;
  names.set(text, name);
  return name;
}
const names = new Map<string, string>();

const maxParameters = 32_000;
