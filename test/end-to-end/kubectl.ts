import { execFile, spawnSync } from "node:child_process";
import { readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** The kubectl programs of this machine: the one on the PATH and versioned siblings beside its real file. */
export function kubectls(): readonly string[] {
  const found = spawnSync("which", ["kubectl"], { encoding: "utf8" });
  if (found.status !== 0) return [];
  const folder = dirname(realpathSync(found.stdout.trim()));
  const siblings = readdirSync(folder).filter((name) => /^kubectl\.1\.\d+$/.test(name));
  return siblings.length > 0 ? siblings.sort().map((name) => join(folder, name)) : [found.stdout.trim()];
}

/** Runs kubectl against a kubeconfig and answers what it printed; what it refused is thrown with its words. */
export async function kubectl(
  program: string,
  kubeconfig: string,
  args: readonly string[],
  input = "",
): Promise<string> {
  // Not the synchronous form: the server that it asks may live in this process.
  const running = promisify(execFile)(program, ["--kubeconfig", kubeconfig, ...args], {
    timeout: 90_000,
    env: { ...process.env, KUBECACHEDIR: join(dirname(kubeconfig), "kube-cache") },
  });
  running.child.stdin?.end(input);
  return (await running).stdout;
}
