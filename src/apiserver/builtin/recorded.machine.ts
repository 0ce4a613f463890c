import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type RealServer, realServerFolder, startRealServer } from "../../../scripts/cluster/api-server.ts";
import {
  type Compared,
  compareCreate,
  compareTable,
  compareUpdate,
} from "../../../scripts/generate-builtin/compare.ts";
import { type Recorded, record } from "../../../scripts/generate-builtin/record.ts";

// Asks a real server again, so that a recording that has grown old cannot hide a difference.

const folder = realServerFolder("1.36.*");

suite("a real kube-apiserver, asked now", {
  skip: folder === undefined && "no kube-apiserver 1.36, whose words ours speaks, is built on this machine",
}, () => {
  let server: RealServer;
  let recorded: Recorded;

  before(async () => {
    server = await startRealServer(folder);
    recorded = await record(server);
  });
  after(() => server.stop());

  const expectNoDifference = (comparisons: readonly Compared[]): void => {
    assert.ok(comparisons.length > 0);
    for (const { ours, theirs } of comparisons) assert.deepEqual(ours, theirs);
  };

  test("makes the same of new objects", () => expectNoDifference(recorded.creates.map(compareCreate)));
  test("refuses with the same words", () => expectNoDifference(recorded.refusals.map(compareCreate)));
  test("makes the same of changes", () => expectNoDifference(recorded.updates.map(compareUpdate)));
  test("shows the same cells", () => expectNoDifference(recorded.tables.map(compareTable)));
});
