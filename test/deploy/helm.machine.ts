import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { test } from "node:test";
import { defaultOptions } from "../../scripts/deploy/generate.ts";
import { type InstallOptions, installObjects } from "../../src/control-plane/manifests.ts";
import { findHelm } from "./find-helm.ts";
import { byIdentity, objectsIn, withoutHelmsWord } from "./rendered.ts";

const helm = findHelm();
/** A Helm that was compiled like this one knows no version to render for. */
const kubeVersion = "1.34.0";
const has = (program: string): boolean => spawnSync("which", [program]).status === 0;

test("a real Helm finds nothing wrong with the chart and renders the objects of `capstan install`", {
  skip: "missing" in helm ? helm.missing : false,
  timeout: 1_200_000,
}, () => {
  if ("missing" in helm) return;
  run(helm.program, ["lint", "--strict", "--kube-version", kubeVersion, "deploy/helm/capstan"]);
  const cases: readonly Partial<InstallOptions>[] = [
    {},
    { single: true },
    { replicas: 1 },
    { namespace: "elsewhere", image: "example.org/tools/capstan@sha256:0a" },
  ];
  for (const chosen of cases) {
    const set = Object.entries(chosen).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
    const text = run(helm.program, [
      "template",
      "capstan",
      "deploy/helm/capstan",
      "--kube-version",
      kubeVersion,
      ...set,
    ]);
    const wanted = installObjects({ ...defaultOptions(), ...chosen });
    assert.deepEqual(byIdentity(objectsIn(text).map(withoutHelmsWord)), byIdentity(wanted), JSON.stringify(chosen));
  }
  const refused = spawnSync(helm.program, [
    "template",
    "deploy/helm/capstan",
    "--kube-version",
    kubeVersion,
    "--set",
    "image=a: b",
  ]);
  assert.notEqual(refused.status, 0, "what is no image's name is refused by the chart's schema");
});

test("a real Kustomize renders the objects of `capstan install`", {
  skip: has("kubectl") ? false : "there is no kubectl on this machine",
  timeout: 300_000,
}, () => {
  for (const [folder, single] of [
    ["base", false],
    ["single", true],
  ] as const) {
    const text = run("kubectl", ["kustomize", `deploy/kustomize/${folder}`]);
    assert.deepEqual(byIdentity(objectsIn(text)), byIdentity(installObjects({ ...defaultOptions(), single })));
  }
});

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, [...args], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
