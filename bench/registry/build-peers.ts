// Builds the registries that the benchmark is compared with, once, into ~/.cache/capstan-bench/bin, where it looks for them:
// `node bench/registry/build-peers.ts`. r-nacos comes from its crate, Consul from its Go module; both take minutes, and a
// run that was cut goes on where it was.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { peerFolder } from "./peer.ts";

const rnacosVersion = "0.8.5";
const consulVersion = "1.22.0";
/** The one that this Consul wants. */
const discoverVersion = "v1.1.0";
/** Every line that names a provider, except the one of the local network. */
const clouds = /^.*(?:go-discover\/provider\/(?!mdns)|&(?!mdns)\w+\.Provider\{).*\n/gm;

mkdirSync(peerFolder, { recursive: true });
for (const [program, build] of Object.entries({ rnacos: buildRnacos, consul: buildConsul })) {
  if (existsSync(join(peerFolder, program))) console.log(`${program} is there`);
  else build();
}

function buildRnacos(): void {
  const target = join(peerFolder, "../rnacos-target");
  const args = ["install", "rnacos", "--version", rnacosVersion, "--root", join(peerFolder, "..")];
  run("cargo", args, { env: { CARGO_TARGET_DIR: target } });
}

/**
 * Its module replaces its own parts by folders that are not in it; they are published apart, so the replacements go. So do
 * the clouds in which it could look for other servers: they take longer to compile than all the rest.
 */
function buildConsul(): void {
  const module = "github.com/hashicorp/consul";
  const source = join(peerFolder, `../consul-${consulVersion}`);
  // The public sum database does not know every one of those parts.
  const env = { GOFLAGS: "-mod=mod -buildvcs=false", GONOSUMDB: `${module}/*` };
  if (!existsSync(source)) {
    const copy = mkdtempSync(`${source}-`);
    copyModule(module, `v${consulVersion}`, copy);
    const parts = ["api", "envoyextensions", "proto-public", "sdk", "troubleshoot"];
    run("go", ["mod", "edit", ...parts.map((part) => `-dropreplace=${module}/${part}`)], { cwd: copy });
    const discover = "github.com/hashicorp/go-discover";
    copyModule(discover, discoverVersion, join(copy, "go-discover"));
    const list = join(copy, "go-discover", "discover.go");
    writeFileSync(list, readFileSync(list, "utf8").replace(clouds, ""));
    run("go", ["mod", "edit", `-replace=${discover}=./go-discover`], { cwd: copy });
    renameSync(copy, source);
  }
  run("go", ["build", "-trimpath", "-o", join(peerFolder, "consul"), "."], { cwd: source, env });
}

function copyModule(module: string, version: string, folder: string): void {
  const { Dir } = JSON.parse(run("go", ["mod", "download", "-json", `${module}@${version}`])) as { Dir: string };
  cpSync(Dir, folder, { recursive: true });
  run("chmod", ["-R", "u+w", folder]);
}

function run(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): string {
  console.log(`${program} ${args.join(" ")}`);
  const { status, stdout, error } = spawnSync(program, args, {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
  });
  if (status !== 0) throw new Error(`${program} ended with ${status ?? error?.message}`);
  return stdout;
}
