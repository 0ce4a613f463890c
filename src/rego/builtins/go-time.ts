/** Instants, time zones and Go's layouts (`Mon Jan _2 15:04:05 2006`). */

export class TimeFault extends Error {}

/** Seconds east of UTC at an instant, and the name of the zone there. */
export interface Zone {
  offsetAt(unixSeconds: number): number;
  nameAt(unixSeconds: number): string;
}

export interface Civil {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanosecond: number;
  readonly weekday: number;
  readonly yearDay: number;
}

export const utc: Zone = { offsetAt: () => 0, nameAt: () => "UTC" };

const zones = new Map<string, Zone>();

/** Throws `TimeFault` for a name that the zone database does not have. */
export function loadZone(name: string): Zone {
  if (name === "" || name === "UTC" || name === "Local") return utc;
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = makeZone(name);
    zones.set(name, zone);
  }
  return zone;
}

function makeZone(name: string): Zone {
  if (/^[+-]/.test(name)) throw new TimeFault(`unknown time zone ${name}`);
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      era: "short",
    });
  } catch {
    throw new TimeFault(`unknown time zone ${name}`);
  }
  return {
    offsetAt: (seconds) => {
      const parts = new Map(format.formatToParts(new Date(seconds * 1000)).map(({ type, value }) => [type, value]));
      const field = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type) ?? "0");
      const year = parts.get("era") === "BC" ? 1 - field("year") : field("year");
      const local = civilSeconds(year, field("month"), field("day"), field("hour"), field("minute"), field("second"));
      return local - seconds;
    },
    nameAt: (seconds) => abbreviation(name, new Date(seconds * 1000)),
  };
}

/** The short name of a zone, from whichever English locale knows it (`CET` is known in Britain, `PST` in America). */
function abbreviation(zone: string, date: Date): string {
  for (const locale of ["en-US", "en-GB", "en-AU", "en-IN", "en-CA", "en-ZA", "en-NZ"]) {
    const parts = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: "short" }).formatToParts(date);
    const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
    if (name !== "" && !/^(GMT|UTC)[+-]/.test(name)) return name;
  }
  const offset = loadZone(zone).offsetAt(Math.floor(date.getTime() / 1000));
  return offsetText(offset, "-0700").replace(/00$/, "");
}

/** Seconds since 1970 for a civil time in UTC; fields may be out of range and are carried over. */
export function civilSeconds(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number {
  const months = year * 12 + (month - 1);
  const date = new Date(0);
  date.setUTCFullYear(Math.floor(months / 12), ((months % 12) + 12) % 12, 1);
  return date.getTime() / 1000 + (day - 1) * 86_400 + hour * 3600 + minute * 60 + second;
}

export const billion = 1_000_000_000n;

export function civilAt(instantNs: bigint, zone: Zone): Civil {
  let seconds = instantNs / billion;
  let nanos = instantNs % billion;
  if (nanos < 0n) {
    nanos += billion;
    seconds -= 1n;
  }
  const unix = Number(seconds);
  const date = new Date((unix + zone.offsetAt(unix)) * 1000);
  const year = date.getUTCFullYear();
  const startOfYear = civilSeconds(year, 1, 1, 0, 0, 0);
  return {
    year,
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    nanosecond: Number(nanos),
    weekday: date.getUTCDay(),
    yearDay: Math.floor((date.getTime() / 1000 - startOfYear) / 86_400) + 1,
  };
}

/** The instant of a civil time in a zone; a time that the clock skips is taken with the offset before the change. */
export function instantOf(civil: Omit<Civil, "weekday" | "yearDay">, zone: Zone): bigint {
  const local = civilSeconds(civil.year, civil.month, civil.day, civil.hour, civil.minute, civil.second);
  let offset = zone.offsetAt(local);
  const guess = zone.offsetAt(local - offset);
  if (guess !== offset) offset = guess;
  return BigInt(local - offset) * billion + BigInt(civil.nanosecond);
}

export const monthNames = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
export const dayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Layout elements, longest first where one starts with another. */
const elements =
  /January|Jan|Monday|Mon|MST|2006|Z07:00:00|Z07:00|Z070000|Z0700|Z07|-07:00:00|-07:00|-070000|-0700|-07|__2|002|_2006|_2|01|02|03|04|05|06|15|PM|pm|[.,]0+(?!\d)|[.,]9+(?!\d)|[12345]/g;

export interface Piece {
  readonly literal: string;
  readonly element: string;
}

export function* pieces(layout: string): IterableIterator<Piece> {
  let last = 0;
  for (const match of layout.matchAll(elements)) {
    let [element] = match;
    let start = match.index;
    // `Jan` must not be the start of another word; `_2006` is a literal underscore and a year.
    if (element === "Jan" && /^[a-z]/.test(layout.slice(start + 3))) continue;
    if (element === "Mon" && /^[a-z]/.test(layout.slice(start + 3))) continue;
    if (element === "_2006") {
      element = "2006";
      start += 1;
    }
    yield { literal: layout.slice(last, start), element };
    last = match.index + match[0].length;
  }
  yield { literal: layout.slice(last), element: "" };
}

export function formatTime(instantNs: bigint, zone: Zone, layout: string): string {
  const civil = civilAt(instantNs, zone);
  const unix = Number(instantNs >= 0n ? instantNs / billion : (instantNs - billion + 1n) / billion);
  const offset = zone.offsetAt(unix);
  const two = (value: number): string => String(value).padStart(2, "0");
  const hour12 = civil.hour % 12 === 0 ? 12 : civil.hour % 12;
  let text = "";
  for (const { literal, element } of pieces(layout)) {
    text += literal;
    switch (element) {
      case "":
        break;
      case "January":
        text += monthNames[civil.month - 1];
        break;
      case "Jan":
        text += monthNames[civil.month - 1]?.slice(0, 3);
        break;
      case "Monday":
        text += dayNames[civil.weekday];
        break;
      case "Mon":
        text += dayNames[civil.weekday]?.slice(0, 3);
        break;
      case "MST":
        text += zone.nameAt(unix);
        break;
      case "2006":
        text += String(civil.year).padStart(4, "0");
        break;
      case "06":
        text += two(civil.year % 100);
        break;
      case "01":
        text += two(civil.month);
        break;
      case "1":
        text += civil.month;
        break;
      case "02":
        text += two(civil.day);
        break;
      case "_2":
        text += String(civil.day).padStart(2, " ");
        break;
      case "2":
        text += civil.day;
        break;
      case "002":
        text += String(civil.yearDay).padStart(3, "0");
        break;
      case "__2":
        text += String(civil.yearDay).padStart(3, " ");
        break;
      case "15":
        text += two(civil.hour);
        break;
      case "03":
        text += two(hour12);
        break;
      case "3":
        text += hour12;
        break;
      case "04":
        text += two(civil.minute);
        break;
      case "4":
        text += civil.minute;
        break;
      case "05":
        text += two(civil.second);
        break;
      case "5":
        text += civil.second;
        break;
      case "PM":
        text += civil.hour >= 12 ? "PM" : "AM";
        break;
      case "pm":
        text += civil.hour >= 12 ? "pm" : "am";
        break;
      default:
        text += /^[.,]/.test(element) ? fraction(civil.nanosecond, element) : offsetText(offset, element);
    }
  }
  return text;
}

function fraction(nanosecond: number, element: string): string {
  const digits = String(nanosecond)
    .padStart(9, "0")
    .slice(0, element.length - 1);
  if (element[1] === "0") return element[0] + digits;
  const trimmed = digits.replace(/0+$/, "");
  return trimmed === "" ? "" : element[0] + trimmed;
}

function offsetText(offset: number, element: string): string {
  if (element.startsWith("Z") && offset === 0) return "Z";
  const sign = offset < 0 ? "-" : "+";
  const total = Math.abs(offset);
  const two = (value: number): string => String(value).padStart(2, "0");
  const hours = two(Math.floor(total / 3600));
  const minutes = two(Math.floor(total / 60) % 60);
  const seconds = two(total % 60);
  const shape = element.slice(1);
  if (shape === "07") return sign + hours;
  if (shape === "0700") return sign + hours + minutes;
  if (shape === "07:00") return `${sign}${hours}:${minutes}`;
  if (shape === "070000") return sign + hours + minutes + seconds;
  return `${sign}${hours}:${minutes}:${seconds}`;
}
