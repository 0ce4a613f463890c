/** Dates and times. The present comes from the environment and stands still during one evaluation. */
import { BuiltinFault } from "../evaluate/errors.ts";
import { toFloat } from "../values/arithmetic.ts";
import { truncateFloat } from "../values/binary-float.ts";
import { type Decimal, isNumber, numberFromBigInt } from "../values/number.ts";
import { isArray, type Value } from "../values/value.ts";
import { parseDuration } from "./duration.ts";
import { civilAt, dayNames, formatTime, instantOf, loadZone, TimeFault, utc, type Zone } from "./go-time.ts";
import { parseTime } from "./go-time-parse.ts";
import { type Args, type Builtins, operand, smallIntegerAt, stringAt, typeFault } from "./operands.ts";

export const timeBuiltins: Builtins = {
  "time.now_ns": (_, machine) => {
    machine.nowNs ??= machine.env.nowNs();
    return numberFromBigInt(machine.nowNs);
  },
  "time.parse_ns": (args) => {
    const layout = stringAt(args, 0);
    const value = stringAt(args, 1);
    return checked(asFault(() => parseTime(namedLayouts[layout] ?? layout, value)));
  },
  "time.parse_rfc3339_ns": (args) => {
    const value = stringAt(args, 0);
    return checked(asFault(() => parseTime(rfc3339, value)));
  },
  "time.parse_duration_ns": (args) => {
    const parsed = parseDuration(stringAt(args, 0));
    if (typeof parsed === "string") throw new BuiltinFault(parsed);
    return numberFromBigInt(parsed);
  },
  "time.format": (args) => {
    const { instant, zone, layout } = instantAt(args, 0);
    return formatTime(instant, zone, layout === "" ? rfc3339Nano : (namedLayouts[layout] ?? layout));
  },
  "time.date": (args) => {
    const { instant, zone } = instantAt(args, 0);
    const { year, month, day } = civilAt(instant, zone);
    return [year, month, day];
  },
  "time.clock": (args) => {
    const { instant, zone } = instantAt(args, 0);
    const { hour, minute, second } = civilAt(instant, zone);
    return [hour, minute, second];
  },
  "time.weekday": (args) => {
    const { instant, zone } = instantAt(args, 0);
    return dayNames[civilAt(instant, zone).weekday];
  },
  "time.add_date": (args) => {
    const { instant, zone } = instantAt(args, 0);
    const years = smallIntegerAt(args, 1);
    const months = smallIntegerAt(args, 2);
    const days = smallIntegerAt(args, 3);
    if (Math.max(Math.abs(years), Math.abs(months), Math.abs(days)) > 1_000_000) throw outOfRange();
    const civil = civilAt(instant, zone);
    return checked(
      instantOf({ ...civil, year: civil.year + years, month: civil.month + months, day: civil.day + days }, zone),
    );
  },
  "time.diff": difference,
};

const rfc3339 = "2006-01-02T15:04:05Z07:00";
const rfc3339Nano = "2006-01-02T15:04:05.999999999Z07:00";

const namedLayouts: { readonly [name: string]: string } = {
  ANSIC: "Mon Jan _2 15:04:05 2006",
  UnixDate: "Mon Jan _2 15:04:05 MST 2006",
  RubyDate: "Mon Jan 02 15:04:05 -0700 2006",
  RFC822: "02 Jan 06 15:04 MST",
  RFC822Z: "02 Jan 06 15:04 -0700",
  RFC850: "Monday, 02-Jan-06 15:04:05 MST",
  RFC1123: "Mon, 02 Jan 2006 15:04:05 MST",
  RFC1123Z: "Mon, 02 Jan 2006 15:04:05 -0700",
  RFC3339: rfc3339,
  RFC3339Nano: rfc3339Nano,
};

interface ZonedInstant {
  readonly instant: bigint;
  readonly zone: Zone;
  readonly layout: string;
}

const timeOperand = "either number (ns) or [number (ns), string (tz)]";

function instantAt(args: Args, index: number): ZonedInstant {
  const value = operand(args, index);
  if (isNumber(value)) return { instant: nanoseconds(value), zone: utc, layout: "" };
  if (!isArray(value) || value.length === 0) throw typeFault(0, value, timeOperand);
  const [number, zoneName, layout] = value;
  if (!isNumber(number)) throw typeFault(0, number ?? null, "number");
  if (zoneName !== undefined && typeof zoneName !== "string") throw typeFault(0, zoneName, "string");
  const zone = zoneName === undefined ? utc : asFault(() => loadZone(zoneName));
  if (layout !== undefined && typeof layout !== "string") throw typeFault(0, layout, "string");
  return { instant: nanoseconds(number), zone, layout: layout ?? "" };
}

function nanoseconds(value: number | Decimal): bigint {
  const float = toFloat(value);
  const whole = truncateFloat(float);
  const isExact = float.exponent >= 0 || whole << BigInt(-float.exponent) === float.mantissa;
  if (!isExact || whole !== BigInt.asIntN(64, whole)) throw new BuiltinFault("timestamp too big");
  return whole;
}

function checked(instant: bigint): Value {
  if (instant !== BigInt.asIntN(64, instant)) throw outOfRange();
  return numberFromBigInt(instant);
}

function outOfRange(): BuiltinFault {
  return new BuiltinFault("time outside of valid range");
}

/** Years, months, days, hours, minutes and seconds between two instants, on the clock of the first. */
function difference(args: Args): Value {
  const first = instantAt(args, 0);
  const second = instantAt(args, 1);
  const { zone } = first;
  const [earlier, later] = first.instant > second.instant ? [second, first] : [first, second];
  const a = civilAt(earlier.instant, zone);
  const b = civilAt(later.instant, zone);
  let years = b.year - a.year;
  let months = b.month - a.month;
  let days = b.day - a.day;
  let hours = b.hour - a.hour;
  let minutes = b.minute - a.minute;
  let seconds = b.second - a.second;
  if (seconds < 0) {
    seconds += 60;
    minutes--;
  }
  if (minutes < 0) {
    minutes += 60;
    hours--;
  }
  if (hours < 0) {
    hours += 24;
    days--;
  }
  if (days < 0) {
    days += new Date(Date.UTC(a.year, a.month, 0)).getUTCDate();
    months--;
  }
  if (months < 0) {
    months += 12;
    years--;
  }
  return [years, months, days, hours, minutes, seconds];
}

function asFault<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof TimeFault) throw new BuiltinFault(error.message);
    throw error;
  }
}
