import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { parseSchedule } from "./cron.ts";
import { cronPattern } from "./cron-pattern.ts";

const pattern = RE2JS.compile(cronPattern);
const looksLikeCron = (text: string): boolean => pattern.matcher(text).find();

const value = fc.oneof(
  fc.integer({ min: 0, max: 99 }).map(String),
  fc.integer({ min: 0, max: 9 }).map((digit) => `0${digit}`),
  fc.constantFrom("*", "?", "jan", "DEC", "Sun", "sat", "mo", "L", "", "100"),
);
const item = fc
  .tuple(value, fc.option(value), fc.option(fc.constantFrom("0", "1", "5", "15", "00", "x", "")))
  .map(([from, to, step]) => `${from}${to === null ? "" : `-${to}`}${step === null ? "" : `/${step}`}`);
const field = fc.array(item, { minLength: 1, maxLength: 2 }).map((items) => items.join(","));
const expression = fc.oneof(
  { weight: 8, arbitrary: fc.array(field, { minLength: 5, maxLength: 5 }).map((fields) => fields.join(" ")) },
  // Single values, of which most can be read.
  { weight: 8, arbitrary: fc.array(value, { minLength: 5, maxLength: 5 }).map((fields) => ` ${fields.join("  ")}\n`) },
  fc.array(field, { minLength: 3, maxLength: 7 }).map((fields) => fields.join(" ")),
  fc.constantFrom("@daily", "@Weekly", "@reboot", "@every 1h", "TZ=UTC @hourly", "CRON_TZ=UTC 0 4 * * 7", "TZ=UTC", ""),
  fc.string(),
);

/** What the pattern cannot see. */
const runsBackwards = (message: string): boolean => /must be \* or/.test(message);

test("random expressions: what can be read looks like a schedule, and what does not look like one cannot be read", () => {
  let [read, refused] = [0, 0];
  fc.assert(
    fc.property(expression, (text) => {
      const schedule = parseSchedule(text);
      if (schedule.ok) read++;
      else refused++;
      if (schedule.ok || !looksLikeCron(text)) assert.equal(looksLikeCron(text), schedule.ok, text);
      else assert.ok(runsBackwards(schedule.message), `${text}: ${schedule.message}`);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(read > 50 && refused > 50, `${read} could be read, ${refused} could not`);
});

test("what it cannot see is a range that runs backwards, and nothing else", () => {
  const backwards = ["5-1 * * * *", "* * * dec-jan *", "* 23-0/2 * * *"];
  for (const text of backwards) assert.deepEqual([looksLikeCron(text), parseSchedule(text).ok], [true, false], text);
  const numbers = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)).filter(([from, to]) => from <= to);
  fc.assert(
    fc.property(fc.nat(4), numbers, (index, [from, to, step]) => {
      const fields = ["*", "*", "*", "*", "*"];
      fields[index] = `${from}-${to}/${step}`;
      const text = fields.join(" ");
      assert.equal(looksLikeCron(text), parseSchedule(text).ok, text);
    }),
    { numRuns: 2_000 },
  );
});
