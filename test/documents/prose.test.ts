/** Commands that stand in sentences, where no test types them as they are: they must at least be possible. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { allDocuments } from "./markdown.ts";
import { inlineCommands, objectionTo, placeOfProse } from "./prose.ts";

const all = allDocuments().flatMap((document) =>
  inlineCommands(readFileSync(document, "utf8")).map((command) => ({ document, ...command })),
);

test("every command in a sentence exists, with its flags and arguments, and is typed somewhere or says why not", () => {
  assert.ok(all.length > 100, `${all.length} commands`);
  const wrong = all.flatMap(({ document, line, text }) => {
    const objection = objectionTo(document, text);
    return objection ? [`${document}:${line}: ${text}: ${objection}`] : [];
  });
  assert.deepEqual(wrong, []);
  for (const { text } of all) {
    const place = placeOfProse(text);
    if (place?.kind === "Elsewhere") assert.ok(existsSync(place.file), place.file);
  }
});

const cases: readonly { readonly text: string; readonly objection: RegExp | undefined }[] = [
  { text: "capstan explain world NAME -n NAMESPACE", objection: undefined },
  { text: "capstan install --crds-only | kubectl apply --server-side -f -", objection: undefined },
  { text: "capstan audit list|verify|export", objection: undefined },
  { text: "capstan audit verify --expect END", objection: undefined },
  { text: "capstan audit lst", objection: /audit has no command lst/ },
  { text: "capstan audit list|vrify", objection: /has no command/ },
  { text: "capstan up --no-such", objection: /up has no flag --no-such/ },
  { text: "capstan approve one two", objection: /approve takes no argument two/ },
  { text: "npm run bench -- solver", objection: undefined },
  { text: "npm run bench -- sovler", objection: /no benchmark sovler/ },
  { text: "npm run nothing", objection: /no script nothing/ },
  { text: "npm run test:machine -- test/package/none.machine.ts", objection: /there is no test\/package\/none/ },
  { text: "node scripts/none.ts", objection: /there is no scripts\/none\.ts/ },
  { text: "kubectl describe", objection: undefined },
  { text: "kubectl frobnicate everything", objection: /no test types this/ },
  { text: "helm frobnicate", objection: /no test types this/ },
];
for (const { text, objection } of cases)
  test(`${text}: ${objection ? "is objected to" : "passes"}`, () => {
    const said = objectionTo("docs/somewhere.md", text);
    if (objection) assert.match(said ?? "", objection);
    else assert.equal(said, undefined);
  });

test("commands are found in sentences and tables, over the end of a line, and not in blocks", () => {
  const text =
    "Type `npm\nstart`, or ``npx capstan``.\n\n| `capstan install \\| kubectl apply` | `kind` |\n\n```sh\nnpm test\n```\n";
  assert.deepEqual(
    inlineCommands(text).map((command) => command.text),
    ["npm start", "npx capstan", "capstan install | kubectl apply"],
  );
});
