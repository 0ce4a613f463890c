import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { manualEnv } from "../testing/manual-env.ts";
import { createLogger, type LogFormat, type LogLevel } from "./log.ts";

function written(format: LogFormat, level: LogLevel, say: (log: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  say(createLogger({ env: manualEnv(), format, level, writeLine: (line) => lines.push(line) }));
  return lines;
}

describe("log", () => {
  test("one JSON object per line, with the fields of every outer logger", () => {
    const [line] = written("json", "info", (log) =>
      log.with({ controller: "widgets" }).with({ object: "ns/one" }).info("made", { parts: 3 }),
    );
    assert.deepEqual(JSON.parse(line ?? ""), {
      time: "2026-01-01T00:00:00.000Z",
      level: "info",
      message: "made",
      controller: "widgets",
      object: "ns/one",
      parts: 3,
    });
  });

  test("a field never hides what is said, how urgent it is or when", () => {
    const [line] = written("json", "info", (log) =>
      log.warn("said", { message: "other", level: "x", time: 1, why: "w" }),
    );
    assert.deepEqual(JSON.parse(line ?? ""), {
      time: "2026-01-01T00:00:00.000Z",
      level: "warn",
      message: "said",
      why: "w",
    });
  });

  test("pretty lines for people", () => {
    assert.deepEqual(
      written("pretty", "debug", (log) => log.warn("slow", { object: "ns/one", text: "two words", none: undefined })),
      ['00:00:00.000 WARN  slow object=ns/one text="two words"'],
    );
  });

  test("what is below the level is not written", () => {
    const lines = written("json", "warn", (log) => {
      for (const level of ["debug", "info", "warn", "error"] as const) log[level](level);
    });
    assert.equal(lines.length, 2);
  });

  test("errors with causes, cycles and big numbers are printable", () => {
    const cycle: Record<string, unknown> = { name: "cycle" };
    cycle["self"] = cycle;
    const shared = { twice: true };
    const error = new Error("outer", { cause: new Error("inner") });
    const [line] = written("json", "info", (log) => log.error("x", { error, cycle, big: 10n, a: shared, b: shared }));
    const parsed = JSON.parse(line ?? "");
    assert.equal(parsed.error.message, "outer");
    assert.equal(parsed.error.cause.message, "inner");
    assert.equal(parsed.cycle.self, "[circular]");
    assert.equal(parsed.big, "10");
    assert.deepEqual([parsed.a, parsed.b], [shared, shared]);
  });
});
