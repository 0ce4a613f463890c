import assert from "node:assert/strict";
import { test } from "node:test";
import { readSources } from "./sources.ts";

/** What may be taken from the ambient world only by the rooms that own it. Everyone else is handed an Env. */
const rules: readonly {
  readonly what: string;
  readonly pattern: RegExp;
  readonly owners: readonly string[];
  readonly instead: string;
}[] = [
  {
    what: "the wall clock",
    pattern: /\bDate\.now\b|\bnew Date\(\s*\)/,
    owners: ["src/env/"],
    instead: "take `env.now()`",
  },
  {
    what: "the monotonic clock",
    pattern: /\bperformance\.now\b|\bprocess\.hrtime\b/,
    owners: ["src/env/"],
    instead: "take `env.monotonicMs()`",
  },
  { what: "chance", pattern: /\bMath\.random\b/, owners: ["src/env/"], instead: "take `env.random()`" },
  { what: "random ids", pattern: /\brandomUUID\b/, owners: ["src/env/"], instead: "take `env.uuid()`" },
  {
    what: "timers",
    pattern: /(?<![.\w])(globalThis\.)?(setTimeout|setInterval)\s*\(/,
    owners: ["src/env/"],
    instead: "take `env.setTimer()` or `sleep(env, …)`",
  },
  {
    what: "the environment",
    pattern: /\bprocess\.env\b/,
    owners: ["src/cli/"],
    instead: "pass the setting in from src/cli",
  },
  {
    what: "fetch",
    pattern: /(?<![.\w#])(globalThis\.)?fetch\(/,
    // The client of the registry runs in other people's programs and browsers.
    owners: ["src/registry/client/"],
    instead: "use an HttpHandler made by the composition root",
  },
  {
    what: "HTTP server sockets",
    pattern: /\bcreate(Secure)?Server\s*\(/,
    owners: ["src/http/"],
    instead: "give src/http/server.ts a handler",
  },
];

const sources = readSources();

for (const { what, pattern, owners, instead } of rules) {
  test(`${what} is used only where it is owned (${owners.join(", ") || "nowhere"})`, () => {
    const wrong = sources
      .filter(({ path }) => !owners.some((owner) => path.startsWith(owner)))
      .flatMap(({ path, code }) =>
        code.split("\n").flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
      );
    assert.deepEqual(wrong, [], `${instead}, so that a run can be replayed in a simulation`);
  });
}

test("evaluate and reduce files are synchronous and do no I/O", () => {
  const decisions = sources.filter(({ path }) => /^src\/controllers\/.*\/(evaluate|reduce)(\.|\/)/.test(path));
  const wrong = decisions.flatMap(({ path, code, valueImports }) => [
    ...(/\basync\b|\bawait\b|\bPromise\b/.test(code)
      ? [`${path}: decisions are synchronous; let observe or act wait`]
      : []),
    ...valueImports
      .filter((target) => target.startsWith("node:") || /\/(client|http|store|runtime|audit)\//.test(target))
      .map((target) => `${path}: imports ${target}; a decision takes data and answers data`),
  ]);
  assert.deepEqual(wrong, []);
});

test("the solver, versions, rego and kube rooms touch no disk, network or process", () => {
  const impure = /^node:(fs|net|http|https|http2|tls|dgram|child_process|cluster|os|process|sqlite)/;
  const wrong = sources
    .filter(({ room }) => ["kube", "versions", "rego", "solver"].includes(room))
    .flatMap(({ path, imports }) =>
      imports.filter((target) => impure.test(target)).map((target) => `${path} imports ${target}`),
    );
  assert.deepEqual(wrong, []);
});
