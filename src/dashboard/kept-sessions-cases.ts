import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type KeptSessions, maxSessions } from "./kept-sessions.ts";

/** A place for sessions, empty, and the clock that it goes by. */
export interface KeptSessionsUnderTest {
  readonly kept: KeptSessions;
  readonly clock: { advance(milliseconds: number): Promise<void> };
}

/** What every place where sessions are kept must do; run for memory, SQLite and PostgreSQL. */
export function describeKeptSessions(name: string, open: () => Promise<KeptSessionsUnderTest>): void {
  describe(`sessions in ${name}`, { timeout: 60_000 }, () => {
    test("are found by their secret, and by nothing else", async () => {
      const { kept } = await open();
      await kept.put("secret", "credential", 1_000);
      assert.equal(await kept.find("secret"), "credential");
      assert.equal(await kept.find("Secret"), undefined);
      assert.equal(await kept.find(""), undefined);
    });

    test("end by time", async () => {
      const { kept, clock } = await open();
      await kept.put("short", "a", 30_000);
      await kept.put("long", "b", 60_000);
      await clock.advance(29_999);
      assert.equal(await kept.find("short"), "a");
      await clock.advance(1);
      assert.equal(await kept.find("short"), undefined);
      assert.equal(await kept.find("long"), "b");
    });

    test("end when they are told to, once and again", async () => {
      const { kept } = await open();
      await kept.put("secret", "credential", 1_000);
      await kept.end("secret");
      await kept.end("secret");
      assert.equal(await kept.find("secret"), undefined);
    });

    test("keep long credentials of any characters", async () => {
      const { kept } = await open();
      const credential = `${"x".repeat(16_384)}é\u0000"`;
      await kept.put("secret", credential, 1_000);
      assert.equal(await kept.find("secret"), credential);
    });

    test("make room for new ones, the oldest first", async () => {
      const { kept, clock } = await open();
      await kept.put("first", "a", 3_600_000);
      await clock.advance(1);
      await kept.put("second", "b", 3_600_000);
      await clock.advance(1);
      for (let count = 1; count < maxSessions; count++) await kept.put(`more-${count}`, "c", 3_600_000);
      await clock.advance(60_000);
      assert.equal(await kept.find("first"), undefined);
      assert.equal(await kept.find("second"), "b");
    });
  });
}
