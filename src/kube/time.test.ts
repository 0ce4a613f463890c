import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatMicroTime, formatTime, parseMicroTime, parseTime } from "./time.ts";

// Asked of apimachinery 0.36.3: what a Time and a MicroTime make of a text.
const times: readonly (readonly [string, string])[] = [
  ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z"],
  ["2023-02-29T12:00:00Z", 'parsing time "2023-02-29T12:00:00Z": day out of range'],
  ["2024-01-01T00:00:00+02:00", "2023-12-31T22:00:00Z"],
  ["2024-01-01T00:00:00.123456789Z", "2024-01-01T00:00:00Z"],
  ["2024-13-01T00:00:00Z", 'parsing time "2024-13-01T00:00:00Z": month out of range'],
  ["2024-01-32T00:00:00Z", 'parsing time "2024-01-32T00:00:00Z": day out of range'],
  ["2024-01-01T24:00:00Z", 'parsing time "2024-01-01T24:00:00Z": hour out of range'],
  ["2024-01-01T00:60:00Z", 'parsing time "2024-01-01T00:60:00Z": minute out of range'],
  ["2024-01-01T00:00:60Z", 'parsing time "2024-01-01T00:00:60Z": second out of range'],
  ["2024-01-01", 'parsing time "2024-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
  [
    "2024-01-01 00:00:00Z",
    'parsing time "2024-01-01 00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse " 00:00:00Z" as "T"',
  ],
  ["x", 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
  ["", 'parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006"'],
  [
    "2024-01-01T00:00:00",
    'parsing time "2024-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"',
  ],
  ["2024-01-01T00:00:00ZZ", 'parsing time "2024-01-01T00:00:00ZZ": extra text: "Z"'],
  ["2024-01-01T0:00:00Z", "2024-01-01T00:00:00Z"],
  [
    "2024-1-01T00:00:00Z",
    'parsing time "2024-1-01T00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse "1-01T00:00:00Z" as "01"',
  ],
  ["2024-01-01T00:00:00+25:00", 'parsing time "2024-01-01T00:00:00+25:00": time zone offset hour out of range'],
  ["2024-01-01T00:00:00+02:61", 'parsing time "2024-01-01T00:00:00+02:61": time zone offset minute out of range'],
  ["2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00Z"],
  [
    "2024-01-01T00:00:00.Z",
    'parsing time "2024-01-01T00:00:00.Z" as "2006-01-02T15:04:05Z07:00": cannot parse ".Z" as "Z07:00"',
  ],
  [
    "24-01-01T00:00:00Z",
    'parsing time "24-01-01T00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse "24-01-01T00:00:00Z" as "2006"',
  ],
  [
    "2024-01-01t00:00:00z",
    'parsing time "2024-01-01t00:00:00z" as "2006-01-02T15:04:05Z07:00": cannot parse "t00:00:00z" as "T"',
  ],
];
const microTimes: readonly (readonly [string, string])[] = [
  [
    "2024-02-29T12:00:00Z",
    'parsing time "2024-02-29T12:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  [
    "2023-02-29T12:00:00Z",
    'parsing time "2023-02-29T12:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  [
    "2024-01-01T00:00:00+02:00",
    'parsing time "2024-01-01T00:00:00+02:00" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "+02:00" as ".000000"',
  ],
  [
    "2024-01-01T00:00:00.123456789Z",
    'parsing time "2024-01-01T00:00:00.123456789Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "789Z" as "Z07:00"',
  ],
  ["2024-13-01T00:00:00Z", 'parsing time "2024-13-01T00:00:00Z": month out of range'],
  [
    "2024-01-32T00:00:00Z",
    'parsing time "2024-01-32T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  ["2024-01-01T24:00:00Z", 'parsing time "2024-01-01T24:00:00Z": hour out of range'],
  ["2024-01-01T00:60:00Z", 'parsing time "2024-01-01T00:60:00Z": minute out of range'],
  ["2024-01-01T00:00:60Z", 'parsing time "2024-01-01T00:00:60Z": second out of range'],
  ["2024-01-01", 'parsing time "2024-01-01" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "" as "T"'],
  [
    "2024-01-01 00:00:00Z",
    'parsing time "2024-01-01 00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse " 00:00:00Z" as "T"',
  ],
  ["x", 'parsing time "x" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "x" as "2006"'],
  ["", 'parsing time "" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "" as "2006"'],
  [
    "2024-01-01T00:00:00",
    'parsing time "2024-01-01T00:00:00" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "" as ".000000"',
  ],
  [
    "2024-01-01T00:00:00ZZ",
    'parsing time "2024-01-01T00:00:00ZZ" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "ZZ" as ".000000"',
  ],
  [
    "2024-01-01T0:00:00Z",
    'parsing time "2024-01-01T0:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  [
    "2024-1-01T00:00:00Z",
    'parsing time "2024-1-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "1-01T00:00:00Z" as "01"',
  ],
  [
    "2024-01-01T00:00:00+25:00",
    'parsing time "2024-01-01T00:00:00+25:00" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "+25:00" as ".000000"',
  ],
  [
    "2024-01-01T00:00:00+02:61",
    'parsing time "2024-01-01T00:00:00+02:61" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "+02:61" as ".000000"',
  ],
  [
    "2024-01-01T00:00:00,5Z",
    'parsing time "2024-01-01T00:00:00,5Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ",5Z" as ".000000"',
  ],
  [
    "2024-01-01T00:00:00.Z",
    'parsing time "2024-01-01T00:00:00.Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".Z" as ".000000"',
  ],
  [
    "24-01-01T00:00:00Z",
    'parsing time "24-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "24-01-01T00:00:00Z" as "2006"',
  ],
  [
    "2024-01-01t00:00:00z",
    'parsing time "2024-01-01t00:00:00z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "t00:00:00z" as "T"',
  ],
  ["2024-01-01T00:00:00.123456Z", "2024-01-01T00:00:00.123000Z"],
  [
    "2024-01-01T00:00:00.123Z",
    'parsing time "2024-01-01T00:00:00.123Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".123Z" as ".000000"',
  ],
  [
    "2024-01-01T00:00:00.1234567Z",
    'parsing time "2024-01-01T00:00:00.1234567Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "7Z" as "Z07:00"',
  ],
  ["2024-01-01T00:00:00.123456+01:00", "2023-12-31T23:00:00.123000Z"],
];

for (const [text, expected] of times) {
  test(`a Time reads ${JSON.stringify(text)} as the real server does`, () => {
    const result = parseTime(text);
    assert.equal(result.ok ? formatTime(result.value) : result.message, expected);
  });
}

for (const [text, expected] of microTimes) {
  test(`a MicroTime reads ${JSON.stringify(text)} as the real server does, to the millisecond`, () => {
    const result = parseMicroTime(text);
    assert.equal(result.ok ? formatMicroTime(result.value) : result.message, expected);
  });
}

test("a MicroTime can carry microseconds below the clock's own", () => {
  assert.equal(formatMicroTime(new Date("2024-01-02T03:04:05.678Z"), 9), "2024-01-02T03:04:05.678009Z");
});

test("every time survives being printed and read", () => {
  const anyTime = fc.date({
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(anyTime, (time) => {
      assert.deepEqual(parseMicroTime(formatMicroTime(time)), { ok: true, value: time });
      const seconds = new Date(Math.floor(time.getTime() / 1000) * 1000);
      assert.deepEqual(parseTime(formatTime(time)), { ok: true, value: seconds });
    }),
  );
});
