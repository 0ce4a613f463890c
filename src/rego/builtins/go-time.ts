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

const billion = 1_000_000_000n;

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

const monthNames = [
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

interface Piece {
  readonly literal: string;
  readonly element: string;
}

function* pieces(layout: string): IterableIterator<Piece> {
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

/** Throws `TimeFault` with Go's message. */
export function parseTime(layout: string, value: string): bigint {
  const parser = new LayoutParser(layout, value);
  return parser.parse();
}

class LayoutParser {
  readonly #layout: string;
  readonly #value: string;
  #rest: string;
  #year = 0;
  #month = 1;
  #day = 1;
  #yearDay: number | undefined;
  #hour = 0;
  #minute = 0;
  #second = 0;
  #nanosecond = 0;
  #isPm: boolean | undefined;
  #offset = 0;

  constructor(layout: string, value: string) {
    this.#layout = layout;
    this.#value = value;
    this.#rest = value;
  }

  parse(): bigint {
    const list = [...pieces(this.#layout)];
    list.forEach(({ literal, element }, index) => {
      this.#skip(literal);
      if (element !== "") this.#read(element, list[index + 1]);
    });
    if (this.#rest !== "") throw this.#fault(`extra text: ${quote(this.#rest)}`, "");
    return this.#instant();
  }

  #instant(): bigint {
    if (this.#isPm === true && this.#hour < 12) this.#hour += 12;
    if (this.#isPm === false && this.#hour === 12) this.#hour = 0;
    if (this.#yearDay !== undefined) {
      const seconds = civilSeconds(this.#year, 1, this.#yearDay, 0, 0, 0);
      const date = new Date(seconds * 1000);
      this.#month = date.getUTCMonth() + 1;
      this.#day = date.getUTCDate();
    }
    if (this.#day < 1 || this.#day > daysIn(this.#year, this.#month)) throw this.#range("day");
    const local = civilSeconds(this.#year, this.#month, this.#day, this.#hour, this.#minute, this.#second);
    return BigInt(local - this.#offset) * billion + BigInt(this.#nanosecond);
  }

  /** A space in the layout stands for any number of spaces. */
  #skip(literal: string): void {
    for (let index = 0; index < literal.length; index++) {
      const char = literal[index] ?? "";
      if (char === " ") {
        if (this.#rest !== "" && this.#rest[0] !== " ") throw this.#mismatch(literal.slice(index));
        this.#rest = this.#rest.replace(/^ +/, "");
        while (literal[index + 1] === " ") index++;
        continue;
      }
      if (this.#rest[0] !== char) throw this.#mismatch(literal.slice(index));
      this.#rest = this.#rest.slice(1);
    }
  }

  #read(element: string, next: Piece | undefined): void {
    switch (element) {
      case "January":
        this.#month = this.#word(monthNames, element) + 1;
        return;
      case "Jan":
        this.#month =
          this.#word(
            monthNames.map((name) => name.slice(0, 3)),
            element,
          ) + 1;
        return;
      case "Monday":
        this.#word(dayNames, element);
        return;
      case "Mon":
        this.#word(
          dayNames.map((name) => name.slice(0, 3)),
          element,
        );
        return;
      case "2006":
        this.#year = this.#digits(4, 4, element);
        return;
      case "06": {
        const short = this.#digits(2, 2, element);
        this.#year = short >= 69 ? 1900 + short : 2000 + short;
        return;
      }
      case "01":
      case "1":
        this.#month = this.#digits(element.length, 2, element);
        if (this.#month < 1 || this.#month > 12) throw this.#range("month");
        return;
      case "02":
      case "2":
      case "_2":
        if (element === "_2" && this.#rest.startsWith(" ")) this.#rest = this.#rest.slice(1);
        this.#day = this.#digits(element === "02" ? 2 : 1, 2, element);
        return;
      case "002":
      case "__2":
        if (element === "__2") this.#rest = this.#rest.replace(/^ {1,2}/, "");
        this.#yearDay = this.#digits(element === "002" ? 3 : 1, 3, element);
        if (this.#yearDay < 1 || this.#yearDay > 366) throw this.#range("day-of-year");
        return;
      case "15":
        this.#hour = this.#digits(1, 2, element);
        if (this.#hour > 23) throw this.#range("hour");
        return;
      case "03":
      case "3":
        this.#hour = this.#digits(element.length, 2, element);
        if (this.#hour > 12) throw this.#range("hour");
        return;
      case "04":
      case "4":
        this.#minute = this.#digits(element.length, 2, element);
        if (this.#minute > 59) throw this.#range("minute");
        return;
      case "05":
      case "5":
        this.#second = this.#digits(element.length, 2, element);
        if (this.#second > 59) throw this.#range("second");
        // A fraction may follow the seconds even if the layout has none.
        if (/^[.,]\d/.test(this.#rest) && !(next?.literal === "" && /^[.,]/.test(next.element))) this.#fraction(0);
        return;
      case "PM":
      case "pm": {
        const half = this.#rest.slice(0, 2);
        if (half !== (element === "PM" ? "PM" : "pm") && half !== (element === "PM" ? "AM" : "am")) {
          throw this.#mismatch(element);
        }
        this.#isPm = half.toLowerCase() === "pm";
        this.#rest = this.#rest.slice(2);
        return;
      }
      case "MST": {
        const match = /^(UTC|ChST|MeST|GMT(?:[+-]\d{1,2})?|[A-Z]{3,5}|[+-]\d{2,4})/.exec(this.#rest);
        if (match === null) throw this.#mismatch(element);
        const hours = /^GMT([+-]\d{1,2})$/.exec(match[0])?.[1];
        if (hours !== undefined) this.#offset = Number(hours) * 3600;
        this.#rest = this.#rest.slice(match[0].length);
        return;
      }
      default:
        if (/^[.,]/.test(element)) {
          if (element[1] === "9") {
            if (/^[.,]\d/.test(this.#rest)) this.#fraction(0);
          } else this.#fraction(element.length - 1);
        } else this.#zone(element);
    }
  }

  #word(words: readonly string[], element: string): number {
    const index = words.findIndex((word) => this.#rest.slice(0, word.length).toLowerCase() === word.toLowerCase());
    if (index === -1) throw this.#mismatch(element);
    this.#rest = this.#rest.slice(words[index]?.length ?? 0);
    return index;
  }

  #digits(minimum: number, maximum: number, element: string): number {
    const match = new RegExp(`^\\d{${minimum},${maximum}}`).exec(this.#rest);
    if (match === null) throw this.#mismatch(element);
    this.#rest = this.#rest.slice(match[0].length);
    return Number(match[0]);
  }

  #fraction(length: number): void {
    const match = (length === 0 ? /^[.,]\d+/ : new RegExp(`^[.,]\\d{${length}}`)).exec(this.#rest);
    if (match === null) throw this.#mismatch(`.${"0".repeat(length)}`);
    this.#nanosecond = Number(match[0].slice(1, 10).padEnd(9, "0"));
    this.#rest = this.#rest.slice(match[0].length);
  }

  #zone(element: string): void {
    if (element.startsWith("Z") && this.#rest.startsWith("Z")) {
      this.#rest = this.#rest.slice(1);
      return;
    }
    const shape = element.slice(1);
    const pattern = `^([+-])${shape.replace("07", "(\\d\\d)").replace(/00/g, "(\\d\\d)")}`;
    const match = new RegExp(pattern).exec(this.#rest);
    if (match === null) throw this.#mismatch(element);
    const [, sign, hours = "0", minutes = "0", seconds = "0"] = match;
    if (Number(hours) > 24) throw this.#range("time zone offset hour");
    if (Number(minutes) > 60) throw this.#range("time zone offset minute");
    const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    this.#offset = sign === "-" ? -total : total;
    this.#rest = this.#rest.slice(match[0].length);
  }

  #mismatch(element: string): TimeFault {
    return this.#fault(`cannot parse ${quote(this.#rest)} as ${quote(element)}`, ` as ${quote(this.#layout)}`);
  }

  #fault(message: string, layout: string): TimeFault {
    return new TimeFault(`parsing time ${quote(this.#value)}${layout}: ${message}`);
  }

  #range(what: string): TimeFault {
    return this.#fault(`${what} out of range`, "");
  }
}

function daysIn(year: number, month: number): number {
  return (civilSeconds(year, month + 1, 1, 0, 0, 0) - civilSeconds(year, month, 1, 0, 0, 0)) / 86_400;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
