// Writes deploy/: the Helm chart and the Kustomize bases, from the same objects that `capstan install` prints.
// `npm run generate:deploy`; a test says when it has to run again.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ChartOptions, chartFiles } from "./chart.ts";
import { kustomizeFiles } from "./kustomize.ts";

const root = fileURLToPath(new URL("../../deploy/", import.meta.url));

/** What `capstan install` does when it is asked for nothing special. */
export function defaultOptions(): ChartOptions {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const namespace = "capstan-system";
  const image = `capstan:${version}`;
  return { version, namespace, image, replicas: 2, single: false, registryNamespace: namespace };
}

/** Every file below deploy/ with its text; the same sources give the same bytes. */
export function deployFiles(): ReadonlyMap<string, string> {
  const options = defaultOptions();
  return new Map([...below("helm/capstan", chartFiles(options)), ...below("kustomize", kustomizeFiles(options))]);
}

const below = (folder: string, files: ReadonlyMap<string, string>): readonly (readonly [string, string])[] =>
  [...files].map(([name, text]) => [`${folder}/${name}`, text]);

if (import.meta.main) {
  for (const folder of ["helm", "kustomize"]) rmSync(join(root, folder), { recursive: true, force: true });
  const files = deployFiles();
  for (const [name, text] of files) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  console.log(`${files.size} files written to deploy`);
}
