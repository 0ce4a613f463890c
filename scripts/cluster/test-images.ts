import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { capstanImage } from "../image/capstan-image.ts";
import { ociArchive } from "../image/oci.ts";

export interface TestImages {
  /** Ours, by the name under which the node knows it. */
  readonly image: string;
  readonly archives: readonly string[];
  /** What an earlier version's `capstan install` prints, where the history reaches back that far. */
  readonly earlierManifests?: string;
}

/** The commit from which the tier upgrades. */
const earlierCommit = "027eb8ff2b2d3b49f617956d59784903c74e2a2e";

/** Our own image, and one that stands in for Paper: it opens the game's port and does nothing else. */
export async function writeImages(folder: string): Promise<TestImages> {
  const image = "capstan:cluster-test";
  const own = join(folder, "capstan.tar");
  writeFileSync(own, await capstanImage(image, 1));
  const paper = join(folder, "paper.tar");
  writeFileSync(paper, paperImage("docker.io/lexfrei/papermc:1.20.6-151"));
  const earlier = earlierVersion(folder);
  return {
    image,
    archives: [own, paper, ...(earlier ? [earlier.archive] : [])],
    ...(earlier && { earlierManifests: earlier.manifests }),
  };
}

/** Built from its own sources, in a folder of its own, with the dependencies that are installed here. */
function earlierVersion(folder: string): { readonly archive: string; readonly manifests: string } | undefined {
  if (spawnSync("git", ["cat-file", "-e", `${earlierCommit}^{commit}`], { stdio: "ignore" }).status !== 0) return;
  const tree = join(folder, "earlier");
  mkdirSync(tree);
  const sources = execFileSync("git", ["archive", earlierCommit], { maxBuffer: 256 * 1024 * 1024 });
  execFileSync("tar", ["-x", "-C", tree], { input: sources });
  symlinkSync(resolve("node_modules"), join(tree, "node_modules"));
  const image = "capstan:earlier";
  const run = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [...args], {
      cwd: tree,
      env: { ...process.env, CAPSTAN_IMAGE: image },
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
  run("scripts/image/image.ts");
  const manifests = join(folder, "earlier.yaml");
  writeFileSync(manifests, run("bin/capstan.mjs", "install", `--image=${image}`));
  const { version } = JSON.parse(readFileSync(join(tree, "package.json"), "utf8")) as { readonly version: string };
  return { archive: join(tree, "dist", "image", `capstan-${version}.tar`), manifests };
}

const paperImage = (reference: string): Buffer =>
  ociArchive({
    reference,
    files: [
      { kind: "folder", path: "bin", mode: 0o755 },
      { kind: "folder", path: "data", mode: 0o777 },
      { kind: "file", path: "bin/busybox", body: readFileSync("/bin/busybox"), mode: 0o755 },
    ],
    config: { Entrypoint: ["/bin/busybox", "httpd", "-f", "-p", "25565", "-h", "/data"], User: "9001" },
  });
