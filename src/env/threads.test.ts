import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { collectEverywhere, startThread } from "./threads.ts";

/** Says how many of its objects are still there whenever it is asked; runs on the thread and travels there as text. */
function hoard(): void {
  const { parentPort } = process.getBuiltinModule("node:worker_threads");
  const dropped = Array.from({ length: 100 }, () => new WeakRef({ size: new Array(1000).fill(0) }));
  parentPort?.on("message", () => parentPort.postMessage(dropped.filter((each) => each.deref()).length));
}

test("threads collect their garbage when the program does, although they do nothing themselves", async (context) => {
  const thread = startThread(hoard);
  context.after(() => thread.terminate());
  const remaining = async (): Promise<number> => {
    thread.postMessage("how many?");
    const [count] = (await once(thread, "message")) as [number];
    return count;
  };
  assert.equal(await remaining(), 100);
  collectEverywhere();
  // A weak reference that was read is kept until its turn is over, so the second answer is the one that counts.
  await remaining();
  collectEverywhere();
  assert.equal(await remaining(), 0);
});

test("a thread that has ended is not told any more, and one that waits for nothing ends by itself", async () => {
  const thread = startThread(() => undefined);
  const [code] = (await once(thread, "exit")) as [number];
  assert.equal(code, 0);
  collectEverywhere();
});
