/** Cron schedules of five fields, with the complaints of the library that the real server uses. */

interface Bounds {
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const bounds: readonly Bounds[] = [
  { from: 0, to: 59, names: [] },
  { from: 0, to: 23, names: [] },
  { from: 1, to: 31, names: [] },
  { from: 1, to: 12, names: months },
  { from: 0, to: 6, names: days },
];
const descriptors = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);

/** What is wrong with a schedule; nothing when it is fine. */
export function cronProblem(schedule: string): string | undefined {
  if (schedule === "") return "empty spec string";
  if (schedule.startsWith("@")) return descriptorProblem(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  for (const [index, field] of fields.entries()) {
    const within = bounds[index];
    const problem =
      within &&
      field
        .split(",")
        .map((part) => rangeProblem(part, within))
        .find((found) => found !== undefined);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function descriptorProblem(schedule: string): string | undefined {
  if (descriptors.has(schedule)) return undefined;
  if (/^@every (\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(schedule)) return undefined;
  if (schedule.startsWith("@every "))
    return `failed to parse duration ${schedule}: time: invalid duration ${JSON.stringify(schedule.slice(7))}`;
  return `unrecognized descriptor: ${schedule}`;
}

function rangeProblem(expression: string, { from, to, names }: Bounds): string | undefined {
  const [range = "", step, ...moreSteps] = expression.split("/");
  const [low = "", high, ...moreBounds] = range.split("-");
  const isStar = low === "*" || low === "?";
  if (!isStar && moreBounds.length > 0) return `too many hyphens: ${expression}`;
  const start = isStar ? from : numberOf(low, names);
  if (typeof start === "string") return start;
  const end = isStar ? to : high !== undefined ? numberOf(high, names) : step !== undefined ? to : start;
  if (typeof end === "string") return end;
  if (moreSteps.length > 0) return `too many slashes: ${expression}`;
  const every = step === undefined ? 1 : numberOf(step, []);
  if (typeof every === "string") return every;
  if (start < from) return `beginning of range (${start}) below minimum (${from}): ${expression}`;
  if (end > to) return `end of range (${end}) above maximum (${to}): ${expression}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`;
  return every === 0 ? `step of range should be a positive number: ${expression}` : undefined;
}

function numberOf(text: string, names: readonly string[]): number | string {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return names === months ? named + 1 : named;
  if (/^[+-]?\d+$/.test(text)) {
    const value = Number(text);
    return value < 0 ? `negative number (${value}) not allowed: ${text}` : value;
  }
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}
