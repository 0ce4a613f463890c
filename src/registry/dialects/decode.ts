import type { NewServiceTarget, ServiceHealth } from "../model/service.ts";
import { stateReasons } from "../model/service.ts";
import { type Dialect, serviceTypeOfEnum } from "./dialect.ts";

/** What a body says, or why it cannot be used. The original answers a wrong type with a bare 400, so that is told apart. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly kind: "WrongType" | "Invalid"; readonly message: string };

/** `service` is A's word, `serviceName` everybody else's; unknown keys are passed over, as the original does. */
export function decodeTarget(
  body: unknown,
  pathDialect: Dialect,
): Decoded<{ readonly target: NewServiceTarget; readonly dialect: Dialect }> {
  if (!isObject(body)) return wrongType("the body must be a JSON object");
  const dialect = "service" in body && !("serviceName" in body) ? "a" : pathDialect;
  const nameField = dialect === "a" ? "service" : "serviceName";
  const texts: Record<string, string | null> = {};
  for (const field of ["id", nameField, "host", "serviceType", "serviceSubType", ...languageFields]) {
    const text = toText(body[field]);
    if (text === undefined) return wrongType(`${field}: must be a string`);
    texts[field] = text;
  }
  const port = toInteger(body["port"]);
  if (port === undefined) return wrongType("port: must be an integer");
  const serviceType = dialect === "a" ? enumType(texts["serviceType"] ?? null) : (texts["serviceType"] ?? null);
  if (serviceType === undefined)
    return wrongType("serviceType: must be RESOURCE_PROVIDER, TOOL_INVOKER or MULTI_CAPABILITY");
  const target: NewServiceTarget = {
    id: texts["id"] || null,
    serviceName: texts[nameField] ?? "",
    host: texts["host"] ?? "",
    port,
    serviceType,
    serviceSubType: texts["serviceSubType"] ?? null,
    languageName: texts["languageName"] ?? null,
    languageType: texts["languageType"] ?? null,
    languageSubType: texts["languageSubType"] ?? null,
  };
  const objection = firstObjection(target, nameField);
  return objection === undefined
    ? { ok: true, value: { target, dialect } }
    : { ok: false, kind: "Invalid", message: objection };
}

const languageFields = ["languageName", "languageType", "languageSubType"] as const;

/** What would break listings, events or the API's objects later is refused at the door. */
function firstObjection(target: NewServiceTarget, nameField: string): string | undefined {
  if (target.serviceName === "") return `${nameField}: is required`;
  if (target.host === "") return "host: is required";
  if (target.port < 0 || target.port > 65_535) return `port: must be from 0 to 65535, not ${target.port}`;
  if (target.id !== null && !isId(target.id))
    return "id: must have 1 to 253 characters out of letters, digits and - _ . : @ /";
  for (const [field, value] of Object.entries({ ...target, [nameField]: target.serviceName })) {
    if (typeof value !== "string") continue;
    if (value.length > maxTextLength) return `${field}: must have at most ${maxTextLength} characters`;
    if (controlCharacters.test(value)) return `${field}: must not contain control characters`;
  }
  return undefined;
}

const maxTextLength = 253;
const controlCharacters = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/;
export const isId = (text: string): boolean => /^[A-Za-z0-9_.:@/-]{1,253}$/.test(text);

export interface ReportedState {
  readonly timestamp: string | null;
  readonly health: ServiceHealth;
  readonly reason: string;
}

/** B adds `healthStatus`, which says more than `healthy`. */
export function decodeState(body: unknown): Decoded<ReportedState> {
  if (!isObject(body)) return wrongType("the body must be a JSON object");
  const { healthy, healthStatus, timestamp } = body;
  if (healthy !== undefined && healthy !== null && typeof healthy !== "boolean")
    return wrongType("healthy: must be true or false");
  const reason = toText(body["reason"]);
  if (reason === undefined) return wrongType("reason: must be a string");
  if (reason !== null && reason.length > maxReasonLength)
    return { ok: false, kind: "Invalid", message: `reason: must have at most ${maxReasonLength} characters` };
  const named = typeof healthStatus === "string" ? healths.find((known) => known === healthStatus) : undefined;
  if (healthStatus !== undefined && healthStatus !== null && named === undefined)
    return wrongType(`healthStatus: must be one of ${healths.join(", ")}`);
  const time = toTimestamp(timestamp);
  if (time === undefined) return wrongType("timestamp: must be a time such as 2026-01-01T00:00:00Z");
  const health = named ?? (healthy === true ? "HEALTHY" : "UNHEALTHY");
  const told = reason ?? (health === "HEALTHY" ? stateReasons.healthy : "");
  return { ok: true, value: { timestamp: time, health, reason: told } };
}

const healths: readonly ServiceHealth[] = ["PENDING", "HEALTHY", "UNHEALTHY", "DOWN"];
const maxReasonLength = 4_096;

/** Java's serializers write an instant as text or as seconds. */
function toTimestamp(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value === "number" && Number.isFinite(value) && Math.abs(value) < maxSeconds)
    return new Date(value * 1000).toISOString();
  if (typeof value !== "string" || value.length > 64 || !/^\d{4}-\d\d-\d\dT/.test(value)) return undefined;
  return Number.isNaN(Date.parse(value)) ? undefined : value;
}
const maxSeconds = 8.64e12;

/** Numbers and booleans become text, as they do in the original. */
function toText(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function toInteger(value: unknown): number | undefined {
  if (value === undefined || value === null || value === "") return 0;
  const number = typeof value === "string" && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.trunc(number) : undefined;
}

const enumType = (name: string | null): string | null | undefined =>
  name === null || name === "" ? null : serviceTypeOfEnum(name);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const wrongType = (message: string): { ok: false; kind: "WrongType"; message: string } => ({
  ok: false,
  kind: "WrongType",
  message,
});
