// `npm run test:cluster`: makes the image, starts a real cluster with it, runs the API conformance suite and the stories of
// test/cluster there, and stops it. Exit code 3 says that this machine cannot run it, with the reason on standard error.
// Words after the command narrow the stories: `npm run test:cluster -- worlds`.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeImages } from "./test-images.ts";

const cannotRun = 3;
const cluster = join(import.meta.dirname, "cluster");
const only = process.argv.slice(2).find((word) => !word.startsWith("-"));
const startedAt = performance.now();

const check = spawnSync(cluster, ["--check"], { stdio: ["ignore", "inherit", "inherit"] });
if (check.status !== 0) process.exit(check.status ?? 1);
const missing = ["kubectl", "openssl"].filter((program) => spawnSync("which", [program]).status !== 0);
if (missing.length > 0) cannot(`it needs ${missing.join(" and ")}`);

const conformance = only === undefined || only === "conformance" ? await conform() : 0;
if (only === "conformance") process.exit(conformance);

await step("build", cluster, ["--build"]);
const folder = mkdtempSync(join(tmpdir(), "capstan-cluster-test-"));
const { image, archives, earlierManifests } = await timed("images", () => writeImages(folder));
let code = 1;
const stop = (): void => {
  spawnSync(cluster, ["--down"], { stdio: "inherit" });
  rmSync(folder, { recursive: true, force: true });
};
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    stop();
    process.exit(130);
  });
try {
  const environment = { ...process.env, CAPSTAN_CLUSTER_IMAGES: archives.join(" ") };
  const kubeconfig = (await timed("start", () => run(cluster, ["--up"], environment))).trim().split("\n").at(-1) ?? "";
  const inside = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    CAPSTAN_CLUSTER_TEST_IMAGE: image,
    ...(only === undefined && earlierManifests !== undefined && { CAPSTAN_CLUSTER_TEST_EARLIER: earlierManifests }),
    ...(only !== undefined && { CAPSTAN_CLUSTER_TEST_ONLY: only }),
  };
  const stories = await shown("stories", process.execPath, storyArguments(), inside);
  if (stories === 0 && conformance === 0) code = 0;
} finally {
  stop();
}
console.log(`test:cluster ${code === 0 ? "passed" : "FAILED"} in ${seconds(startedAt)}`);
process.exit(code);

function storyArguments(): readonly string[] {
  return ["--test", "--test-timeout=1500000", "--test-reporter=spec", "test/cluster/cluster.tier.ts"];
}

/**
 * The suite on an API server alone, because a scheduler and controllers would change what it looks at; of the version whose
 * words the embedded one speaks.
 */
async function conform(): Promise<number> {
  const env = { ...process.env, CAPSTAN_CLUSTER_API_ONLY: "1", CAPSTAN_CLUSTER_VERSION: "1.36.3" };
  if (spawnSync(cluster, ["--check"], { env, stdio: ["ignore", "inherit", "inherit"] }).status !== 0) {
    console.log("test:cluster: conformance is left out, for the reason above");
    return 0;
  }
  const suite = 'exec node test/conformance/kubernetes/run.ts --kubeconfig "$KUBECONFIG"';
  return shown("conformance", cluster, ["bash", "-c", suite], env);
}

function shown(name: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return timed(name, async () => {
    const child = spawn(program, [...args], { env, stdio: "inherit" });
    return new Promise<number>((resolve) => child.once("exit", (status) => resolve(status ?? 1)));
  });
}

async function step(name: string, program: string, args: readonly string[]): Promise<void> {
  await timed(name, () => run(program, args, process.env));
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(program, [...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  return new Promise((resolve, reject) =>
    child.once("close", (status) => {
      if (status === 0) resolve(output);
      else if (status === cannotRun) process.exit(cannotRun);
      else reject(new Error(`${program} ${args.join(" ")} ended with ${status}`));
    }),
  );
}

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const at = performance.now();
  const result = await work();
  console.log(`test:cluster: ${name} took ${seconds(at)}`);
  return result;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}

function cannot(why: string): never {
  console.error(`cluster: cannot run here: ${why}`);
  process.exit(cannotRun);
}
