import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSchedule } from "./cron.ts";

const firings: readonly {
  readonly cron: string;
  readonly zone?: string;
  readonly after: string;
  readonly next: string;
}[] = [
  { cron: "0 4 * * 0", after: "2026-01-15T00:00:00Z", next: "2026-01-18T04:00:00Z" },
  { cron: "0 4 * * 7", after: "2026-01-15T00:00:00Z", next: "2026-01-18T04:00:00Z" },
  { cron: "0 4 * * SUN", zone: "Europe/Berlin", after: "2026-01-15T00:00:00Z", next: "2026-01-18T03:00:00Z" },
  { cron: "0 4 * * SUN", zone: "Europe/Berlin", after: "2026-07-15T00:00:00Z", next: "2026-07-19T02:00:00Z" },
  { cron: "@weekly", after: "2026-01-15T00:00:00Z", next: "2026-01-18T00:00:00Z" },
  { cron: "@hourly", after: "2026-01-15T00:00:00Z", next: "2026-01-15T01:00:00Z" },
  { cron: "*/15 * * * *", after: "2026-01-15T00:14:59Z", next: "2026-01-15T00:15:00Z" },
  { cron: "30 3 29 2 *", after: "2026-01-15T00:00:00Z", next: "2028-02-29T03:30:00Z" },
  { cron: "0 0 13 * 5", after: "2026-01-15T00:00:00Z", next: "2026-01-16T00:00:00Z" },
  { cron: "0 0 1-7 jan mon-fri", after: "2026-01-02T00:00:00Z", next: "2026-01-03T00:00:00Z" },
  { cron: "0 12 * * 5-7", after: "2026-01-17T13:00:00Z", next: "2026-01-18T12:00:00Z" },
  { cron: "0 0 * * *", zone: "America/St_Johns", after: "2026-01-15T00:00:00Z", next: "2026-01-15T03:30:00Z" },
  { cron: "30 2 * * *", zone: "Europe/Berlin", after: "2026-03-28T12:00:00Z", next: "2026-03-30T00:30:00Z" },
  { cron: "30 2 * * *", zone: "Europe/Berlin", after: "2026-10-24T12:00:00Z", next: "2026-10-25T00:30:00Z" },
  { cron: "30 2 * * *", zone: "Europe/Berlin", after: "2026-10-25T00:30:00Z", next: "2026-10-25T01:30:00Z" },
  { cron: "0 0 * * *", zone: "America/Sao_Paulo", after: "2018-11-03T12:00:00Z", next: "2018-11-05T02:00:00Z" },
  { cron: "TZ=Asia/Tokyo 0 4 * * 0", zone: "UTC", after: "2026-01-15T00:00:00Z", next: "2026-01-17T19:00:00Z" },
  { cron: "CRON_TZ=Europe/Berlin @daily", after: "2026-01-15T00:00:00Z", next: "2026-01-15T23:00:00Z" },
];
for (const { cron, zone, after, next } of firings) {
  test(`${cron} in ${zone ?? "UTC"} after ${after} fires at ${next}`, () => {
    const schedule = parseSchedule(cron, zone);
    assert.ok(schedule.ok);
    assert.equal(schedule.value.next(new Date(after))?.toISOString(), new Date(next).toISOString());
  });
}

test("what is no schedule is refused with a sentence", () => {
  for (const [cron, zone, message] of [
    ["whenever", "UTC", /expected five fields/],
    ["60 * * * *", "UTC", /the minute "60" must be \* or 0 to 59/],
    ["* * * * 1-9", "UTC", /weekday/],
    ["*/0 * * * *", "UTC", /minute/],
    ["0 0 * * * *", "UTC", /five fields/],
    ["TZ=Mars/Base 0 0 * * *", "UTC", /no time zone "Mars\/Base"/],
    ["0 0 * * *", "Mars/Base", /no time zone "Mars\/Base"/],
    ["", "UTC", /five fields/],
  ] as const) {
    const schedule = parseSchedule(cron, zone);
    assert.ok(!schedule.ok);
    assert.match(schedule.message, message);
  }
});

test("a day that never comes is no endless search", () => {
  const schedule = parseSchedule("0 0 31 2 *");
  assert.ok(schedule.ok);
  assert.equal(schedule.value.next(new Date("2026-01-01T00:00:00Z")), undefined);
});
