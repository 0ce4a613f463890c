/** The `format` keyword of JSON Schema; a format that is not known accepts everything. */
import { RE2JS } from "re2js";
import { parseAddress } from "./cidr.ts";
import { TimeFault } from "./go-time.ts";
import { parseTime } from "./go-time-parse.ts";
import { parseUrl } from "./go-url.ts";

export function matchesFormat(format: string, text: string): boolean {
  const check = checks[format];
  return check === undefined || check(text);
}

const checks: { readonly [format: string]: (text: string) => boolean } = {
  date: (text) => isTime(text, ["2006-01-02"]),
  time: (text) => isTime(text, ["15:04:05", "15:04:05Z07:00"]),
  "date-time": (text) => isTime(text, ["15:04:05", "15:04:05Z07:00", "2006-01-02", "2006-01-02T15:04:05Z07:00"]),
  hostname: (text) =>
    text.length < 256 &&
    /^([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9])(\.([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9]))*$/.test(
      text,
    ),
  email: isEmail,
  "idn-email": isEmail,
  ipv4: (text) => !text.includes(":") && parseAddress(text) !== undefined,
  ipv6: (text) => text.includes(":") && parseAddress(text) !== undefined,
  uri: (text) => isUri(text, true),
  iri: (text) => isUri(text, true),
  "uri-reference": (text) => isUri(text, false),
  "iri-reference": (text) => isUri(text, false),
  "uri-template": (text) => isUri(text, false) && /^([^{]*(\{[^}]*\})?)*$/.test(text),
  uuid: (text) => /^[a-f0-9]{8}-[a-f0-9]{4}-[1-5][a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/i.test(text),
  regex: (text) => {
    try {
      RE2JS.compile(text);
      return true;
    } catch {
      return false;
    }
  },
  "json-pointer": (text) => /^(\/([^~/]|~[01])*)*$/.test(text),
  "relative-json-pointer": (text) => /^(0|[1-9]\d*)(#|(\/([^~/]|~[01])*)*)$/.test(text),
};

function isEmail(text: string): boolean {
  return /^[^\s@<>]+@[^\s@<>]+$/.test(text) || /<[^\s@<>]+@[^\s@<>]+>$/.test(text);
}

function isTime(text: string, layouts: readonly string[]): boolean {
  return layouts.some((layout) => {
    try {
      parseTime(layout, text);
      return true;
    } catch (error) {
      if (error instanceof TimeFault) return false;
      throw error;
    }
  });
}

function isUri(text: string, isAbsolute: boolean): boolean {
  if (text.includes("\\")) return false;
  try {
    const url = parseUrl(text);
    return !isAbsolute || url.scheme !== "";
  } catch {
    return false;
  }
}
