import { type Parsed, parsed, refused } from "../../kube/parsed.ts";

/** A cron schedule: minute, hour, day of month, month, day of week; or one of the `@hourly` words. */
export interface Schedule {
  /** The first moment after the given one; undefined when there is none within five years. */
  next(after: Date): Date | undefined;
}

export function parseSchedule(text: string, timeZone = "Etc/UTC"): Parsed<Schedule> {
  const zone = zoneReader(timeZone);
  if (zone === undefined) return refused(`unknown time zone ${JSON.stringify(timeZone)}`);
  const trimmed = text.trim();
  const every = /^@every\s+(\d+)(s|m|h)$/.exec(trimmed);
  if (every !== null) return parsed(interval(Number(every[1]) * (unitMs[every[2] ?? ""] ?? 1000)));
  const words = (macros[trimmed] ?? trimmed).split(/\s+/);
  if (words.length !== fields.length) {
    return refused(`schedule ${JSON.stringify(text)}: expected exactly 5 fields, found ${words.length}`);
  }
  const sets: ReadonlySet<number>[] = [];
  for (const [index, field] of fields.entries()) {
    const set = parseField(words[index] ?? "", field);
    if (!set.ok) return refused(`schedule ${JSON.stringify(text)}: ${set.message}`);
    sets.push(set.value);
  }
  const [minutes, hours, days, months, weekdays] = sets as [Numbers, Numbers, Numbers, Numbers, Numbers];
  const starDay = isStar(words[2]);
  const starWeekday = isStar(words[4]);
  const fitsDay = ({ day, weekday }: LocalTime): boolean => {
    const [byDay, byWeekday] = [days.has(day), weekdays.has(weekday)];
    // As cron has always done it: two restrictions are alternatives, a star restricts nothing.
    return starDay || starWeekday ? byDay && byWeekday : byDay || byWeekday;
  };
  return parsed({
    next(after) {
      let at = Math.floor(after.getTime() / minuteMs) * minuteMs + minuteMs;
      const limit = at + horizonMs;
      while (at < limit) {
        const local = zone(at);
        if (!months.has(local.month) || !fitsDay(local)) at += minutesLeftToday(local) * minuteMs;
        else if (!hours.has(local.hour)) at += (60 - local.minute) * minuteMs;
        else if (!minutes.has(local.minute)) at += minuteMs;
        else return new Date(at);
      }
      return undefined;
    },
  });
}

type Numbers = ReadonlySet<number>;

interface LocalTime {
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const fields: readonly Field[] = [
  { name: "minute", from: 0, to: 59 },
  { name: "hour", from: 0, to: 23 },
  { name: "day of month", from: 1, to: 31 },
  { name: "month", from: 1, to: 12, names: monthNames },
  { name: "day of week", from: 0, to: 7, names: dayNames },
];
const macros: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const minuteMs = 60_000;
const horizonMs = 5 * 366 * 24 * 3_600_000;

const isStar = (word: string | undefined): boolean => word === "*" || word === "?";

function parseField(text: string, field: Field): Parsed<Numbers> {
  const numbers = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^(\*|\?|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d{1,2}))?$/i.exec(part);
    const step = Number(match?.[3] ?? 1);
    const isWhole = isStar(match?.[1]);
    const from = isWhole ? field.from : numberOf(match?.[1], field);
    const to =
      match?.[2] !== undefined ? numberOf(match[2], field) : isWhole || match?.[3] !== undefined ? field.to : from;
    if (match === null || from === undefined || to === undefined || from > to || step < 1) {
      return refused(`${JSON.stringify(part)} is not a ${field.name} from ${field.from} to ${field.to}`);
    }
    for (let number = from; number <= to; number += step) numbers.add(field.to === 7 ? number % 7 : number);
  }
  return parsed(numbers);
}

function numberOf(text: string | undefined, { from, to, names }: Field): number | undefined {
  const named = names?.indexOf((text ?? "").toLowerCase()) ?? -1;
  const number = named >= 0 ? named + (from === 1 ? 1 : 0) : /^\d{1,2}$/.test(text ?? "") ? Number(text) : -1;
  return number >= from && number <= to ? number : undefined;
}

const interval = (everyMs: number): Schedule => ({
  next: (after) => new Date(Math.floor(after.getTime() / 1000) * 1000 + Math.max(1000, everyMs)),
});

const minutesLeftToday = ({ hour, minute }: LocalTime): number =>
  Math.max(1, 60 - minute + (23 - hour) * 60 - dstSlack(hour));

/** A day may be an hour shorter than it looks; stopping early only costs another look. */
const dstSlack = (hour: number): number => (hour < 22 ? 60 : 0);

function zoneReader(timeZone: string): ((atMs: number) => LocalTime) | undefined {
  if (timeZone === "Etc/UTC" || timeZone === "UTC") return utc;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      weekday: "short",
    });
  } catch {
    return undefined;
  }
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
    return {
      month: Number(parts.get("month")),
      day: Number(parts.get("day")),
      weekday: dayNames.indexOf((parts.get("weekday") ?? "").slice(0, 3).toLowerCase()),
      hour: Number(parts.get("hour")),
      minute: Number(parts.get("minute")),
    };
  };
}

function utc(atMs: number): LocalTime {
  const at = new Date(atMs);
  return {
    month: at.getUTCMonth() + 1,
    day: at.getUTCDate(),
    weekday: at.getUTCDay(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
  };
}
