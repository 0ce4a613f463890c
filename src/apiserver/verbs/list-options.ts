import { type FieldError, forbidden, formatFieldError, invalid, notSupported } from "../../kube/field-error.ts";
import { isTrue } from "../protocol/request-info.ts";
import { badRequest, invalid as invalidObject, StatusError } from "../protocol/status-error.ts";

/** The query of a list or a watch, checked in the words of the real server. */
export interface ListOptions {
  /** Undefined when not given; 0 means any version will do. */
  readonly resourceVersion?: number;
  readonly match?: "Exact" | "NotOlderThan";
  readonly limit: number;
  readonly continueToken: string;
}

export interface WatchOptions {
  readonly resourceVersion?: number;
  readonly sendInitialEvents?: boolean;
  readonly allowBookmarks: boolean;
  readonly timeoutSeconds?: number;
}

export function parseListOptions(query: URLSearchParams): ListOptions {
  if (query.size === 0) return { limit: 0, continueToken: "" };
  const rawVersion = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const continueToken = query.get("continue") ?? "";
  const errors: FieldError[] = [];
  if (query.has("sendInitialEvents")) {
    errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (match !== "") errors.push(...matchErrors(match, rawVersion, continueToken));
  if (errors.length > 0) throw invalidObject(listOptionsKind, "", errors);
  const resourceVersion = parseVersion(rawVersion, (message) => badRequest(`invalid resource version: ${message}`));
  return {
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...((match === "Exact" || match === "NotOlderThan") && { match }),
    limit: Math.max(0, parseInteger(query.get("limit")) ?? 0),
    continueToken,
  };
}

export function parseWatchOptions(query: URLSearchParams): WatchOptions {
  const rawVersion = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const sendInitialEvents = query.has("sendInitialEvents") ? isTrue(query.get("sendInitialEvents")) : undefined;
  const errors: FieldError[] = [];
  if (sendInitialEvents === undefined && match !== "") {
    errors.push(
      forbidden(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    );
  }
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    errors.push(
      forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    );
  }
  if (errors.length > 0) throw invalidObject(listOptionsKind, "", errors);
  const resourceVersion = parseVersion(rawVersion, (message) => new StatusError(500, "", message));
  const timeoutSeconds = parseInteger(query.get("timeoutSeconds"));
  return {
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(sendInitialEvents !== undefined && { sendInitialEvents }),
    allowBookmarks: isTrue(query.get("allowWatchBookmarks")),
    ...(timeoutSeconds !== undefined && timeoutSeconds > 0 && { timeoutSeconds }),
  };
}

const listOptionsKind = { group: "meta.k8s.io", name: "ListOptions" };

function matchErrors(match: string, rawVersion: string, continueToken: string): readonly FieldError[] {
  const field = "resourceVersionMatch";
  const errors: FieldError[] = [];
  if (rawVersion === "")
    errors.push(forbidden(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  if (continueToken !== "")
    errors.push(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
  if (match !== "Exact" && match !== "NotOlderThan") {
    errors.push(notSupported(field, match, ["Exact", "NotOlderThan", ""]));
  } else if (match === "Exact" && rawVersion === "0") {
    errors.push(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  return errors;
}

/** A resourceVersion of a query; `refuse` makes the error, whose status differs between verbs. */
export function parseVersion(raw: string, refuse: (message: string) => StatusError): number | undefined {
  if (raw === "") return undefined;
  if (/^\d{1,15}$/.test(raw)) return Number(raw);
  const why = /^\d+$/.test(raw) ? "value out of range" : "invalid syntax";
  const detail = `strconv.ParseUint: parsing ${JSON.stringify(raw)}: ${why}`;
  throw refuse(formatFieldError(invalid("resourceVersion", raw, detail)));
}

function parseInteger(raw: string | null): number | undefined {
  if (raw === null || raw === "") return undefined;
  if (/^[+-]?\d{1,15}$/.test(raw)) return Number(raw);
  const why = /^[+-]?\d+$/.test(raw) ? "value out of range" : "invalid syntax";
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(raw)}: ${why}`);
}
