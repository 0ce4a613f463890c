import type { HttpRequest } from "../../http/message.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { isDialect } from "../dialects/dialect.ts";
import type { Identity } from "../model/command.ts";
import { type Query, queryOf } from "./query.ts";

/** A request to the registry, with what every route needs to know of it. */
export class RegistryRequest {
  readonly http: HttpRequest;
  readonly method: string;
  /** Without a slash at the end. */
  readonly path: string;
  /** What follows the question mark, as sent. */
  readonly search: string;
  readonly by: Identity;
  #query: Query | undefined;

  constructor(http: HttpRequest, path: string, search: string, by: Identity) {
    this.http = http;
    this.method = http.method;
    this.path = path;
    this.search = search;
    this.by = by;
  }

  /** Taken apart only for those who ask for it. */
  get query(): Query {
    this.#query ??= queryOf(this.search);
    return this.#query;
  }
}

export function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const search = mark < 0 ? "" : target.slice(mark + 1);
  return { path: path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path, search };
}

/** Reads answer in B unless asked otherwise; undefined for a word that is no dialect. */
export function dialectOf(query: Query): Dialect | undefined {
  const asked = query.get("dialect")?.toLowerCase() ?? "b";
  return isDialect(asked) ? asked : undefined;
}

export const bodyText = (request: HttpRequest): string => (request.body ? decoder.decode(request.body) : "");

/** A body that is JSON; `undefined` when it is not. */
export function bodyJson(request: HttpRequest): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(bodyText(request)) as unknown };
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder();
