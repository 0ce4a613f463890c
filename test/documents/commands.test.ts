/** Types what the documents tell the reader to type, in order, against a running control plane with the demo in it. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { holdDataDir } from "../../src/cli/data-dir.ts";
import { readManifests } from "../../src/cli/manifest-files.ts";
import type { Client } from "../../src/client/client.ts";
import { applyObjects } from "../../src/control-plane/install.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { eventually, startEmbedded } from "../end-to-end/embedded.ts";
import { placeOf, stepsOf } from "./commands.ts";
import { executedDocuments } from "./markdown.ts";
import { hasBash, hasCurl, hasKubectl, openTerminal, type Terminal, type Typed } from "./terminal.ts";

/** What the text around a command promises. Asked again until it is so, as a reader would look again. */
const promises: readonly { readonly document: string; readonly command: RegExp; readonly prints: RegExp }[] = [
  { document: "README.md", command: /explain world stormy/, prints: /time\.source/ },
  { document: "README.md", command: /get world -n anvil-demo/, prints: /stormy-world .*Running/ },
  { document: "README.md", command: /explain papermcserver survival/, prints: /without the plugin market/ },
  { document: "README.md", command: /explain classruntime greeter/, prints: /greeter: available/ },
  { document: "README.md", command: /audit list/, prints: /capstan-admin +approve/ },
  { document: "README.md", command: /services list/, prints: /core-time-source .*healthy/ },
  { document: "docs/getting-started.md", command: /explain world stormy/, prints: /time\.source/ },
  { document: "docs/getting-started.md", command: /capstan doctor$/, prints: /ok +permissions/ },
  { document: "docs/getting-started.md", command: /resolve -f first\.yaml/, prints: /time\.source/ },
  { document: "docs/getting-started.md", command: /explain world first/, prints: /Running/ },
  { document: "docs/getting-started.md", command: /services list/, prints: /core-time-source .*healthy/ },
  { document: "docs/guides/registry.md", command: /resolve\?serviceName=chat/, prints: /"host":"10\.0\.0\.7"/ },
  { document: "docs/guides/registry.md", command: /services list$/, prints: /chat .*healthy/ },
  { document: "docs/guides/registry.md", command: /get servicetargets/, prints: /chat/ },
  { document: "docs/guides/registry.md", command: /services list --name chat -o wide/, prints: /unhealthy/ },
  { document: "examples/registry/README.md", command: /services list --name/, prints: /forecast-tool .*healthy/ },
  { document: "examples/own-controller/README.md", command: /get configmap hello-page/, prints: /Hello &amp; welcome/ },
];

/** Their manifests name projects of the real repositories, which the demo would ask for. */
const asksOutside: readonly string[] = ["examples/minecraft/README.md"];

/** Files that a document tells the reader to save a manifest in. */
const savedAs: Readonly<Record<string, string>> = { "docs/getting-started.md": "first.yaml" };

for (const document of executedDocuments) {
  const steps = stepsOf(readFileSync(document, "utf8"));
  const runnable = steps.filter(({ kind, text }) => kind === "Manifest" || placeOf(document, text) === undefined);
  if (runnable.length === 0) continue;
  test(`${document} can be followed word by word`, {
    skip: hasBash ? false : "bash is not installed",
    timeout: 200_000,
  }, async (context) => {
    const { dataDir, client, plane } = await startEmbedded(context, ["demo"], {
      demo: !asksOutside.includes(document),
      command: [process.execPath, join(import.meta.dirname, "pod-program.ts")],
    });
    const held = holdDataDir(dataDir);
    context.after(() => held.release());
    writeFileSync(join(dataDir, "ready.json"), JSON.stringify({ ...plane, pid: process.pid }));
    const terminal = openTerminal(context, dataDir);
    let isComplete = true;
    for (const { kind, line, text: written } of runnable) {
      // The reader's control plane listens where it usually does, the test's wherever there is room.
      const text = written.replaceAll("http://127.0.0.1:8080", plane.http);
      if (kind === "Manifest") {
        const file = join(terminal.folder, savedAs[document] ?? "manifest.yaml");
        writeFileSync(file, text);
        if (!savedAs[document] || !hasKubectl)
          await eventually(
            () =>
              applyObjects(
                client,
                readManifests([file]).map(({ object }) => object),
              ),
            () => {},
          );
        continue;
      }
      const missing = missingProgram(text) ?? (namesMissingFile(text, terminal) ? "kubectl" : undefined);
      if (missing) {
        isComplete = false;
        const applied = await applyInstead(text, terminal, client);
        const what = applied ? "applied by the test" : "not typed";
        context.diagnostic(`${document}:${line}: ${what}, because ${missing} is not installed: ${text}`);
        continue;
      }
      const promise = promises.find((candidate) => candidate.document === document && candidate.command.test(text));
      const check = ({ code, output }: Typed): void => {
        assert.ok(isGood(text, code), `${document}:${line}: ${text}\nended with ${code}:\n${output}`);
        if (promise && isComplete) assert.match(output, promise.prints, `${document}:${line}: ${text}`);
      };
      // What waits for something to happen may be one of the lines that were not typed.
      if (promise || !isComplete) await eventually(() => terminal.type(text), check);
      else check(await terminal.type(text));
    }
    assert.deepEqual(await terminal.interruptAll(), []);
  });
}

/** Exit code 2 is the documented answer "something required is unmet". */
const isGood = (command: string, code: number): boolean =>
  code === 0 || (code === 2 && /capstan (resolve|solve)\b/.test(command));

/** People need neither of them: they follow the tour in the dashboard, and so must this test. */
const missingProgram = (command: string): string | undefined =>
  Object.entries({ kubectl: hasKubectl, curl: hasCurl }).find(
    ([program, isThere]) => !isThere && new RegExp(`\\b${program}\\b`).test(command),
  )?.[0];

/** What only lays out files can be done without kubectl, so that later lines find what they speak of. */
async function applyInstead(command: string, { folder }: Terminal, client: Client): Promise<boolean> {
  if (!/^kubectl (apply|create)( -f \S+)+$/.test(command)) return false;
  const files = [...command.matchAll(/-f (\S+)/g)].map(([, file = ""]) => join(folder, file));
  const objects = await Promise.all(readManifests(files).map(({ object }) => inSomeNamespace(object, client)));
  await eventually(
    () => applyObjects(client, objects),
    () => {},
  );
  return true;
}

/** kubectl takes the namespace `default` where none is written. */
async function inSomeNamespace(object: KubeObject, client: Client): Promise<KubeObject> {
  const group = object.apiVersion.includes("/") ? (object.apiVersion.split("/")[0] ?? "") : "";
  const kind = await client.discover(group, object.kind);
  if (!kind?.namespaced || object.metadata.namespace !== undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace: "default" } };
}

const namesMissingFile = (command: string, { folder }: Terminal): boolean =>
  [...command.matchAll(/-f (\S+\.ya?ml)/g)].some(([, file = ""]) => !existsSync(join(folder, file)));

test("every promise is about a command that the document still has", () => {
  const gone = promises.filter(
    ({ document, command }) => !stepsOf(readFileSync(document, "utf8")).some(({ text }) => command.test(text)),
  );
  assert.deepEqual(gone, []);
});
