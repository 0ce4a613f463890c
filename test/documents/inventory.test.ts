/** Every command, manifest and program in every document is executed by a test, or says here why not. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { hasCommands, onBareServer, onCluster, onRestore, placeOf, stepsOf } from "./commands.ts";
import { allDocuments, type CodeBlock, codeBlocks, executedDocuments } from "./markdown.ts";

const blocks = allDocuments().flatMap((document) =>
  codeBlocks(readFileSync(document, "utf8")).map((block) => ({ document, block })),
);
const at = (document: string, { line }: CodeBlock): string => `${document}:${line}`;

/** Arrows and frames; nothing in it could be typed. */
const isDrawing = (block: CodeBlock): boolean => /[→▶│]/.test(block.text) && !hasCommands(block);

test("every block is commands, a manifest, a named TypeScript file or a drawing", () => {
  const strange = blocks
    .filter(
      ({ block }) => !isDrawing(block) && !/^ts \S+\.ts$/.test(block.info) && stepsOf(inMarkdown(block)).length === 0,
    )
    .map(({ document, block }) => at(document, block));
  assert.deepEqual(strange, []);
});

/** The last one's configuration is given to a real Prometheus by observability.machine.ts. */
const executed: readonly string[] = [...executedDocuments, "deploy/observability/README.md"];

test("every TypeScript file and manifest stands in a document whose code is executed", () => {
  const strange = blocks
    .filter(({ document, block }) => /^(ts|ya?ml)\b/.test(block.info) && !executed.includes(document))
    .map(({ document, block }) => at(document, block));
  assert.deepEqual(strange, []);
});

test("every command is typed where its document is followed, or in a place that this names", () => {
  const commands = blocks.flatMap(({ document, block }) =>
    stepsOf(inMarkdown(block)).flatMap(({ kind, text }) => (kind === "Command" ? [{ document, text }] : [])),
  );
  assert.ok(commands.length > 100, `${commands.length} commands`);
  const placed = commands.map((command) => ({ ...command, place: placeOf(command.document, command.text) }));
  const unplaced = placed.filter(({ document, place }) => !place && !executedDocuments.includes(document));
  assert.deepEqual(unplaced, []);
  const files = placed.flatMap(({ place }) => (place?.kind === "Elsewhere" ? [place.file] : []));
  for (const file of new Set(files)) assert.ok(existsSync(file), file);
  // These take what they type from the documents, so that a command that is added is typed, too.
  for (const file of [onBareServer, onCluster, onRestore])
    assert.match(readFileSync(file, "utf8"), /operationsCommands\(/, file);
});

const inMarkdown = ({ info, text }: CodeBlock): string => `\`\`\`${info}\n${text}\n\`\`\`\n`;
