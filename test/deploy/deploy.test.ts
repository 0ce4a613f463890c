import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { defaultOptions, deployFiles } from "../../scripts/deploy/generate.ts";
import { type InstallOptions, installObjects } from "../../src/control-plane/manifests.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { byIdentity, objectsIn, withoutHelmsWord } from "./rendered.ts";
import { renderTemplate, type Values } from "./template.ts";

const defaults = defaultOptions();

test("what is in deploy/ is what the sources give; otherwise run `node scripts/deploy/generate.ts`", () => {
  const wanted = deployFiles();
  const present = globSync("deploy/{helm,kustomize}/**", { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .replaceAll("\\", "/")
        .replace(/^.*deploy\//, ""),
    );
  assert.deepEqual(present.sort(), [...wanted.keys()].sort());
  const stale = [...wanted].filter(([name, text]) => readFileSync(join("deploy", name), "utf8") !== text);
  assert.deepEqual(
    stale.map(([name]) => name),
    [],
    "these are stale: run `node scripts/deploy/generate.ts`",
  );
});

test("Kustomize's bases hold the objects of `capstan install`", () => {
  for (const [folder, single] of [
    ["base", false],
    ["single", true],
  ] as const) {
    const objects = resourcesOf(`kustomize/${folder}`);
    assert.deepEqual(byIdentity(objects), byIdentity(installObjects({ ...defaults, single })));
  }
});

test("the chart renders the objects of `capstan install`, whatever is chosen", () => {
  const cases: readonly Partial<InstallOptions>[] = [
    {},
    { single: true },
    { replicas: 1 },
    {
      namespace: "elsewhere",
      registryNamespace: "services",
      image: "example.org/tools/capstan@sha256:0a",
      replicas: 3,
    },
  ];
  for (const chosen of cases) {
    const options = { ...defaults, ...chosen };
    assert.deepEqual(byIdentity(rendered(chosen)), byIdentity(installObjects(options)), JSON.stringify(chosen));
  }
});

test("a namespace or definitions that are there already can be left out of the chart", () => {
  const without = rendered({ createNamespace: false, crds: false });
  assert.equal(without.filter(({ kind }) => kind === "CustomResourceDefinition").length, 0);
  assert.ok(!without.some(({ kind, metadata }) => kind === "Namespace" && metadata.name === defaults.namespace));
});

test("the chart's schema knows exactly the values that there are", () => {
  const schema = JSON.parse(read("helm/capstan/values.schema.json")) as { properties: Record<string, unknown> };
  const { global: _, ...known } = schema.properties;
  assert.deepEqual(Object.keys(known).sort(), Object.keys(chartValues()).sort());
});

/** As Kustomize goes through folders and files. */
function resourcesOf(folder: string): readonly KubeObject[] {
  const { resources } = objectsIn(read(`${folder}/kustomization.yaml`))[0] as unknown as {
    readonly resources: readonly string[];
  };
  return resources.flatMap((name) =>
    name.endsWith(".yaml") ? objectsIn(read(`${folder}/${name}`)) : resourcesOf(join(folder, name)),
  );
}

const read = (name: string): string => readFileSync(join("deploy", name), "utf8");

const chartValues = (): Values => objectsIn(read("helm/capstan/values.yaml"))[0] as unknown as Values;

function rendered(chosen: Partial<Values>): readonly KubeObject[] {
  const values = { ...chartValues(), ...chosen } as Values;
  return globSync("deploy/helm/capstan/templates/*.yaml")
    .flatMap((file) => objectsIn(renderTemplate(readFileSync(file, "utf8"), values)))
    .map(withoutHelmsWord);
}
