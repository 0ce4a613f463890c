import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import packageFile from "../../../package.json" with { type: "json" };
import type { Finding } from "./finding.ts";

/** What has to be on the machine: Node, the Node that we pin, a fresh bundle, and kubectl for people. */
export async function examineMachine(): Promise<readonly Finding[]> {
  return [judgeNode(process.versions.node), pinnedNode(), await bundle(), kubectl()];
}

const oldestNode = 24;

export function judgeNode(version: string): Finding {
  if (Number(version.split(".")[0]) >= oldestNode) return { check: "node", state: "ok", message: version };
  return {
    check: "node",
    state: "wrong",
    message: `${version} is older than ${oldestNode}`,
    next: `install Node ${oldestNode} or newer, or run \`npm ci\` so that the pinned Node is used`,
  };
}

/** The names under which the platform packages are known; see docs/decisions/0001-pinned-node.md. */
function pinnedNode(): Finding {
  const check = "pinned-node";
  const wanted: Readonly<Record<string, string>> = packageFile.optionalDependencies;
  const names = [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`];
  if (process.platform === "win32") names.push(`node-win-${process.arch}`);
  const name = names.find((candidate) => candidate in wanted);
  const platform = `${process.platform}-${process.arch}`;
  if (name === undefined)
    return { check, state: "note", message: `there is none for ${platform}; the machine's own Node is used` };
  try {
    const file = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const { version } = JSON.parse(readFileSync(file, "utf8")) as { readonly version: string };
    if (version === wanted[name]) return { check, state: "ok", message: `${name} ${version}` };
    const next = "run `npm ci`";
    return { check, state: "note", message: `${name} is ${version}, and ${wanted[name]} is pinned`, next };
  } catch {
    const message = `${name} ${wanted[name]} is not installed; the machine's own Node is used`;
    return { check, state: "note", message, next: "run `npm ci` without --omit=optional to have it" };
  }
}

/** A checkout runs a bundle of its sources; `bin/capstan.mjs` makes a new one when they change. */
async function bundle(): Promise<Finding> {
  const check = "bundle";
  const packagePath = findPackageJSON(import.meta.url);
  const root = packagePath === undefined ? "." : dirname(packagePath);
  const builder = join(root, "scripts", "bundle.mjs");
  const isCheckout = existsSync(join(root, "src", "cli", "main.ts")) && existsSync(builder);
  if (!isCheckout) {
    if (existsSync(join(root, "dist", "bundle", "capstan.mjs")))
      return { check, state: "ok", message: `the published package, version ${packageFile.version}` };
    return { check, state: "wrong", message: `${root} has no bundle`, next: "install the package again" };
  }
  const { isBundleStale } = (await import(pathToFileURL(builder).href)) as { isBundleStale(): boolean };
  if (!isBundleStale()) return { check, state: "ok", message: "as new as the sources" };
  const message = "older than the sources; the next `npx capstan` makes a new one";
  return { check, state: "note", message, next: "run `npm run build` to make it now" };
}

function kubectl(): Finding {
  const found = spawnSync("kubectl", ["version", "--client", "-o", "json"], { encoding: "utf8", timeout: 10_000 });
  return judgeKubectl(found.status === 0 ? found.stdout : undefined);
}

export function judgeKubectl(output: string | undefined): Finding {
  const check = "kubectl";
  const next = "install kubectl (https://kubernetes.io/docs/tasks/tools/); Capstan itself does not need it";
  if (output === undefined) return { check, state: "note", message: "is not on the PATH", next };
  try {
    const { clientVersion } = JSON.parse(output) as { readonly clientVersion: { readonly gitVersion: string } };
    return { check, state: "ok", message: clientVersion.gitVersion };
  } catch {
    return { check, state: "note", message: "does not say its version", next };
  }
}
