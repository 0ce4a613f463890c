import { StoreError, type StoreErrorReason } from "./store-error.ts";

/** How our statements and PostgreSQL's errors look to each other; pure. */
export function toDollars(sql: string): string {
  let index = 0;
  // Quoted text is passed over: a question mark in it is a question mark.
  return sql.replace(/'(?:[^']|'')*'|\?/g, (part) => (part === "?" ? `$${++index}` : part));
}

/** By SQLSTATE. What the driver throws without one is about its connection: lost, closed, or too slow. */
export function reasonOf(error: unknown): StoreErrorReason | undefined {
  if (error instanceof StoreError) return error.reason;
  if (error instanceof TypeError || error instanceof RangeError) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code !== "string" || !/^[0-9A-Z]{5}$/.test(code)) return "Unavailable";
  return byState[code] ?? byFamily[code.slice(0, 2)];
}

const byState: Readonly<Record<string, StoreErrorReason>> = {
  "40001": "Conflict", // serialization failure
  "40P01": "Conflict", // deadlock
  "55P03": "Conflict", // lock not available
  "23505": "Conflict", // unique violation
  "53100": "DiskFull",
  "25006": "ReadOnly",
  XX001: "Corrupt",
  XX002: "Corrupt",
};

/** Connection, sign-in, resources, operator intervention, system errors. */
const byFamily: Readonly<Record<string, StoreErrorReason>> = {
  "08": "Unavailable",
  "28": "Unavailable",
  "53": "Unavailable",
  "57": "Unavailable",
  "58": "Unavailable",
};

export function toStoreError(error: unknown, doing: string): Error {
  if (error instanceof StoreError) return error;
  const reason = reasonOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (reason === undefined) return error instanceof Error ? error : new Error(text);
  return new StoreError(reason, `PostgreSQL: ${doing}: ${text}`, { cause: error });
}

/** Whoever lost the connection cannot use it again. */
export const isConnectionLost = (error: unknown): boolean =>
  error instanceof StoreError && (error.reason === "Unavailable" || error.reason === "CommitUnknown");
