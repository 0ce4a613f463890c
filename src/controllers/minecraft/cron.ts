import { type Parsed, parsed, refused } from "../../kube/parsed.ts";

/**
 * Cron expressions of five fields (minute, hour, day, month, weekday) and names such as `@weekly`, in a time zone.
 * `TZ=Asia/Tokyo 0 4 * * 0` brings its own. A time that the clock jumps over does not fire on that day; one that it shows
 * twice fires twice.
 */
export interface Schedule {
  /** The first time after the given one; undefined when there is none within five years. */
  next(after: Date): Date | undefined;
}

export function parseSchedule(expression: string, timeZone = "UTC"): Parsed<Schedule> {
  const [, own, text = ""] = /^\s*(?:(?:CRON_)?TZ=(\S+)\s+)?(.*?)\s*$/s.exec(expression) ?? [];
  const zoneName = own ?? timeZone;
  const zone = zoneOf(zoneName);
  if (!zone) return refused(`there is no time zone ${JSON.stringify(zoneName)}; write one such as Europe/Berlin`);
  const fields = (descriptors[text.toLowerCase()] ?? text).split(/\s+/);
  if (fields.length !== 5)
    return refused(
      `${JSON.stringify(expression)} is not a cron expression: expected five fields (minute hour day month weekday) or @daily`,
    );
  const sets: ReadonlySet<number>[] = [];
  for (const [index, field] of fields.entries()) {
    const set = parseField(field, fieldRanges[index] as FieldRange);
    if (!set.ok) return refused(`${JSON.stringify(expression)}: ${set.message}`);
    sets.push(set.value);
  }
  const [minutes, hours, days, months, weekdays] = sets as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ];
  // When both days are restricted, one of them is enough; a star leaves the decision to the other.
  const isOpen = (field: string | undefined): boolean => field?.startsWith("*") || field?.startsWith("?") || false;
  const isEither = !isOpen(fields[2]) && !isOpen(fields[4]);
  const matchesDay = ({ day, weekday }: Local): boolean =>
    isEither ? days.has(day) || weekdays.has(weekday) : days.has(day) && weekdays.has(weekday);
  return parsed({ next: (after) => search(after, zone, { minutes, hours, months, matchesDay }) });
}

interface FieldRange {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const fieldRanges: readonly FieldRange[] = [
  { name: "minute", from: 0, to: 59 },
  { name: "hour", from: 0, to: 23 },
  { name: "day", from: 1, to: 31 },
  {
    name: "month",
    from: 1,
    to: 12,
    names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  // Sunday is 0, and many write 7.
  { name: "weekday", from: 0, to: 7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

const descriptors: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

function parseField(text: string, range: FieldRange): Parsed<ReadonlySet<number>> {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const found = /^(\*|\?|[0-9a-z]+)(?:-([0-9a-z]+))?(?:\/([0-9]+))?$/i.exec(part);
    const [, first = "", last, step] = found ?? [];
    const isStar = first === "*" || first === "?";
    const from = isStar ? range.from : numberOf(first, range);
    const to = last !== undefined ? numberOf(last, range) : isStar || step !== undefined ? range.to : from;
    const by = step === undefined ? 1 : Number(step);
    if (!found || from === undefined || to === undefined || from > to || by < 1 || (isStar && last !== undefined))
      return refused(
        `the ${range.name} ${JSON.stringify(part)} must be * or ${range.from} to ${range.to}, such as 1-5 or */2`,
      );
    for (let value = from; value <= to; value += by) values.add(range.name === "weekday" ? value % 7 : value);
  }
  return parsed(values);
}

function numberOf(text: string, { from, to, names }: FieldRange): number | undefined {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + from;
  if (!/^[0-9]{1,2}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= from && value <= to ? value : undefined;
}

interface Local {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly weekday: number;
}

interface Zone {
  local(time: Date): Local;
  /** The moment of a wall-clock time; one that does not exist is moved to the moment at which the clock jumps. */
  moment(year: number, month: number, day: number, hour: number, minute: number): Date;
}

function search(
  after: Date,
  zone: Zone,
  fields: {
    readonly minutes: ReadonlySet<number>;
    readonly hours: ReadonlySet<number>;
    readonly months: ReadonlySet<number>;
    matchesDay(local: Local): boolean;
  },
): Date | undefined {
  let at = new Date(Math.floor(after.getTime() / minuteMs + 1) * minuteMs);
  const latest = after.getTime() + maxYears * 366 * 24 * 60 * minuteMs;
  while (at.getTime() <= latest) {
    const local = zone.local(at);
    const { year, month, day, hour } = local;
    const next = !fields.months.has(month)
      ? zone.moment(year, month + 1, 1, 0, 0)
      : !fields.matchesDay(local)
        ? zone.moment(year, month, day + 1, 0, 0)
        : !fields.hours.has(hour)
          ? new Date(at.getTime() + (60 - local.minute) * minuteMs)
          : !fields.minutes.has(local.minute)
            ? new Date(at.getTime() + minuteMs)
            : undefined;
    if (!next) return at;
    // A zone that turns its clock back could lead to the same place again.
    at = next > at ? next : new Date(at.getTime() + minuteMs);
  }
  return undefined;
}

const minuteMs = 60_000;
const maxYears = 5;

const zones = new Map<string, Zone | undefined>();
function zoneOf(name: string): Zone | undefined {
  if (!zones.has(name)) zones.set(name, createZone(name));
  return zones.get(name);
}

function createZone(name: string): Zone | undefined {
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
    });
  } catch {
    return undefined;
  }
  const local = (time: Date): Local => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const [year = 0, month = 1, day = 1] = [parts.get("year"), parts.get("month"), parts.get("day")];
    return {
      year,
      month,
      day,
      hour: parts.get("hour") ?? 0,
      minute: parts.get("minute") ?? 0,
      weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay(),
    };
  };
  return {
    local,
    moment(year, month, day, hour, minute) {
      const wall = Date.UTC(year, month - 1, day, hour, minute);
      let guess = wall;
      // Twice, because the first guess may lie on the other side of a change of the clock.
      for (let round = 0; round < 2; round++) {
        const shown = local(new Date(guess));
        guess += wall - Date.UTC(shown.year, shown.month - 1, shown.day, shown.hour, shown.minute);
      }
      return new Date(guess);
    },
  };
}
