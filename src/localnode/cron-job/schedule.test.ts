import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSchedule } from "./schedule.ts";

const moments: readonly [string, string, string, string, string?][] = [
  ["every minute", "* * * * *", "2026-03-01T10:20:30Z", "2026-03-01T10:21:00Z"],
  ["every five minutes", "*/5 * * * *", "2026-03-01T10:20:00Z", "2026-03-01T10:25:00Z"],
  ["every hour", "@hourly", "2026-03-01T10:20:30Z", "2026-03-01T11:00:00Z"],
  ["once a day", "30 4 * * *", "2026-03-01T10:20:30Z", "2026-03-02T04:30:00Z"],
  ["weekdays by name", "0 9 * * mon-fri", "2026-03-06T10:00:00Z", "2026-03-09T09:00:00Z"],
  ["Sunday as seven", "0 9 * * 7", "2026-03-06T10:00:00Z", "2026-03-08T09:00:00Z"],
  ["the first or a Friday", "0 0 1 * 5", "2026-03-02T00:00:00Z", "2026-03-06T00:00:00Z"],
  ["a leap day", "0 0 29 2 *", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00Z"],
  ["another zone", "0 9 * * *", "2026-01-15T00:00:00Z", "2026-01-15T08:00:00Z", "Europe/Berlin"],
  ["another zone in summer", "0 9 * * *", "2026-07-15T00:00:00Z", "2026-07-15T07:00:00Z", "Europe/Berlin"],
  ["the end of a year", "59 23 31 dec *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"],
  ["an interval", "@every 90m", "2026-03-01T10:20:30Z", "2026-03-01T11:50:30Z"],
];

for (const [name, schedule, after, expected, zone] of moments) {
  test(`schedule: ${name}`, () => {
    const parsed = parseSchedule(schedule, zone);
    assert.ok(parsed.ok);
    assert.equal(parsed.value.next(new Date(after))?.toISOString(), new Date(expected).toISOString());
  });
}

const refused: readonly [string, string, RegExp][] = [
  ["too few fields", "* * *", /expected exactly 5 fields, found 3/],
  ["a minute that is none", "61 * * * *", /"61" is not a minute from 0 to 59/],
  ["a range that goes back", "* 5-2 * * *", /is not a hour/],
  ["a step of nothing", "*/0 * * * *", /is not a minute/],
];

for (const [name, schedule, message] of refused) {
  test(`schedule refuses ${name}`, () => {
    const parsed = parseSchedule(schedule);
    assert.ok(!parsed.ok);
    assert.match(parsed.message, message);
  });
}

test("a day that never comes has no next moment", () => {
  const parsed = parseSchedule("0 0 31 2 *");
  assert.ok(parsed.ok);
  assert.equal(parsed.value.next(new Date("2026-01-01T00:00:00Z")), undefined);
});
