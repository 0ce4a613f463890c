import { test } from "node:test";
import { eventually, startEmbedded } from "./embedded.ts";
import { worldsStory } from "./game-platform-story.ts";

test("worlds get their bindings, say what they lack, and follow every change", async (context) => {
  const { client } = await startEmbedded(context, ["demo"]);
  await worldsStory(context, client, eventually);
});
