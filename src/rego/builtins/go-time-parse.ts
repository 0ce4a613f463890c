/** Times from text in Go's layouts. */
import { billion, civilSeconds, dayNames, monthNames, type Piece, pieces, TimeFault } from "./go-time.ts";

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
