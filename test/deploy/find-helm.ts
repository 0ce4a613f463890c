import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The one that is installed, or one that is compiled once from the Go module proxy. */
export function findHelm(): { readonly program: string } | { readonly missing: string } {
  if (spawnSync("which", ["helm"]).status === 0) return { program: "helm" };
  const folder = join(homedir(), ".cache", "capstan-helm");
  const program = join(folder, "helm");
  if (existsSync(program)) return { program };
  if (spawnSync("go", ["version"]).status !== 0) return { missing: "there is neither Helm nor Go on this machine" };
  const built = spawnSync("go", ["install", "-ldflags", "-s -w", "helm.sh/helm/v3/cmd/helm@v3.19.2"], {
    env: { ...process.env, GOBIN: folder, GOFLAGS: "" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return built.status === 0 ? { program } : { missing: "Helm could not be compiled; the reason is above" };
}
