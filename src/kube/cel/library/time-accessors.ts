import { declare, type FunctionDeclaration, method } from "../declaration.ts";
import { durationType, intType, stringType, timestampType } from "../type.ts";
import { CelError, type CelValue, type Duration, type Timestamp } from "../value.ts";
import { split } from "./timestamp.ts";

/** Parts of times and durations, in UTC unless a time zone is named. */
export const timeAccessors: readonly FunctionDeclaration[] = [
  accessor("getFullYear", "timestamp_to_year", (date) => date.getUTCFullYear()),
  accessor("getMonth", "timestamp_to_month", (date) => date.getUTCMonth()),
  accessor("getDayOfYear", "timestamp_to_day_of_year", dayOfYear),
  accessor("getDayOfMonth", "timestamp_to_day_of_month", (date) => date.getUTCDate() - 1),
  accessor("getDate", "timestamp_to_day_of_month_1_based", (date) => date.getUTCDate()),
  accessor("getDayOfWeek", "timestamp_to_day_of_week", (date) => date.getUTCDay()),
  accessor("getHours", "timestamp_to_hours", (date) => date.getUTCHours(), ["duration_to_hours", 3_600_000_000_000n]),
  accessor("getMinutes", "timestamp_to_minutes", (date) => date.getUTCMinutes(), [
    "duration_to_minutes",
    60_000_000_000n,
  ]),
  accessor("getSeconds", "timestamp_to_seconds", (date) => date.getUTCSeconds(), [
    "duration_to_seconds",
    1_000_000_000n,
  ]),
  accessor("getMilliseconds", "timestamp_to_milliseconds", (_date, rest) => Number(rest / 1_000_000n), [
    "duration_to_milliseconds",
    1_000_000n,
  ]),
];

type Part = (date: Date, rest: bigint) => number;

function accessor(name: string, id: string, part: Part, ofDuration?: readonly [string, bigint]): FunctionDeclaration {
  const read = (time: CelValue, zone: CelValue = "UTC"): CelValue => {
    const { milliseconds, rest } = split((time as Timestamp).nanoseconds);
    const offset = zoneOffsetMs(zone as string, milliseconds);
    if (offset === undefined) return new CelError(`unknown time zone ${zone as string}`);
    return BigInt(part(new Date(milliseconds + offset), rest));
  };
  return declare(
    name,
    method(id, [timestampType], intType, (time) => read(time)),
    method(
      id === "timestamp_to_seconds" ? "timestamp_to_seconds_tz" : `${id}_with_tz`,
      [timestampType, stringType],
      intType,
      read,
    ),
    ...(ofDuration
      ? [method(ofDuration[0], [durationType], intType, (value) => (value as Duration).nanoseconds / ofDuration[1])]
      : []),
  );
}

function dayOfYear(date: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - start.getTime()) / 86_400_000);
}

/** How far a zone's clock is ahead of UTC: a fixed offset such as `-08:00`, or a name such as `Europe/Berlin`. */
function zoneOffsetMs(zone: string, milliseconds: number): number | undefined {
  if (zone === "" || zone === "UTC") return 0;
  const [, sign, hours, minutes] = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone) ?? [];
  if (hours !== undefined && minutes !== undefined) {
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  }
  try {
    const parts = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    }).formatToParts(milliseconds);
    const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
    return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second")) - milliseconds;
  } catch (error) {
    // Intl refuses names that it does not know.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
