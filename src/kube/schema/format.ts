import { parseDuration } from "../duration.ts";
import { parseCidr, parseIp } from "../ip.ts";
import { dns1123LabelErrors, dns1123SubdomainErrors } from "../names.ts";
import { parseRequestUri } from "../request-uri.ts";
import { isEmailAddress } from "./email.ts";

/** The string formats that kube-apiserver checks; any other name in a schema is only documentation. */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  return formats.get(format.replaceAll("-", ""));
}

const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["bsonobjectid", matches(/^[0-9a-fA-F]{24}$/)],
  ["uri", (text) => parseRequestUri(text) !== undefined],
  ["email", isEmailAddress],
  ["hostname", isHostname],
  ["ipv4", (text) => text.includes(".") && parseIp(text, { leadingZeros: true }) !== undefined && !text.includes("%")],
  ["ipv6", (text) => text.includes(":") && parseIp(text, { leadingZeros: true }) !== undefined && !text.includes("%")],
  ["cidr", (text) => parseCidr(text, { leadingZeros: true }) !== undefined],
  ["mac", isMac],
  ["uuid", matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ["uuid3", matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ["uuid4", matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ["uuid5", matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ["rgbcolor", isRgbColor],
  ["byte", (text) => text !== "" && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)],
  ["password", () => true],
  ["date", isDate],
  ["datetime", isDateTime],
  ["duration", isDuration],
  ["k8sshortname", (text) => dns1123LabelErrors(text).length === 0],
  ["k8slongname", (text) => dns1123SubdomainErrors(text).length === 0],
]);

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

function isHostname(text: string): boolean {
  if (text.length > 255) return false;
  const labels = text.split(".");
  const sign = "a-zA-Z0-9\\p{S}\\p{L}";
  const label = new RegExp(`^[${sign}](?:[-${sign}]{0,61}[${sign}])?$`, "u");
  // A single label may carry at most one dash, right after its first sign: so says the published pattern.
  if (labels.length === 1) return new RegExp(`^[${sign}](?:-?[${sign}]{0,62})$`, "u").test(text) && utf8Fits(text);
  const last = labels.pop() ?? "";
  return (
    /^[a-zA-Z\p{L}]{2,63}$/u.test(last) && [...labels, last].every(utf8Fits) && labels.every((part) => label.test(part))
  );
}

const utf8Fits = (label: string): boolean => Buffer.byteLength(label, "utf8") <= 63;

/** EUI-48, EUI-64 and 20-byte InfiniBand addresses, in pairs, in groups of four or in one piece. */
function isMac(text: string): boolean {
  const pairs = /^[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1)*[0-9a-fA-F]{2}$/.test(text) ? text.split(/[:-]/).length : 0;
  const quads = /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(text) ? text.split(".").length * 2 : 0;
  const plain = /^(?:[0-9a-fA-F]{2})+$/.test(text) ? text.length / 2 : 0;
  return [6, 8, 20].includes(pairs || quads || plain);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  return (
    [...digits].reduce((sum, digit, index) => sum + (index + 1) * (digit === "X" ? 10 : Number(digit)), 0) % 11 === 0
  );
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, index) => sum + (index % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  const known =
    /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|6(?:011|5\d{2})\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/;
  if (!known.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  const [, ...parts] = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text) ?? [];
  return parts.length === 3 && parts.every((part) => Number(part) <= 255 && /^(?:0|[1-9]\d*)$/.test(part));
}

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const time = new Date(0);
  time.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return time.getUTCMonth() === Number(month) - 1 && time.getUTCDate() === Number(day);
}

function isDateTime(text: string): boolean {
  if (text.length > maxTimeLength) return false;
  const [date = "", time] = text.toLowerCase().split("t");
  const clock = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time ?? "");
  if (!isDate(date) || clock === null) return false;
  const [, hours = "", minutes = "", seconds = ""] = clock;
  return hours <= "23" && minutes <= "59" && seconds <= "59";
}

const maxTimeLength = 128;

/** A Go duration, or words such as `3 days` and `2 hours 5 min`. */
function isDuration(text: string): boolean {
  if (text.length > maxTimeLength) return false;
  if (parseDuration(text).ok) return true;
  const unit = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;
  const parts = [...text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)];
  return parts.every(([, number = ""]) => number.length < 19) && parts.some(([, , name = ""]) => unit.test(name));
}
