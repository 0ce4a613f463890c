import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capstanImage } from "../image/capstan-image.ts";
import { ociArchive } from "../image/oci.ts";

export interface TestImages {
  /** Ours, by the name under which the node knows it. */
  readonly image: string;
  readonly archives: readonly string[];
}

/** Our own image, and one that stands in for Paper: it opens the game's port and does nothing else. */
export async function writeImages(folder: string): Promise<TestImages> {
  const image = "capstan:cluster-test";
  const own = join(folder, "capstan.tar");
  writeFileSync(own, await capstanImage(image));
  const paper = join(folder, "paper.tar");
  writeFileSync(paper, paperImage("docker.io/lexfrei/papermc:1.20.6-151"));
  return { image, archives: [own, paper] };
}

const paperImage = (reference: string): Buffer =>
  ociArchive({
    reference,
    files: [
      { kind: "folder", path: "bin", mode: 0o755 },
      { kind: "folder", path: "data", mode: 0o777 },
      { kind: "file", path: "bin/busybox", body: readFileSync("/bin/busybox"), mode: 0o755 },
    ],
    config: { Entrypoint: ["/bin/busybox", "nc", "-lk", "-p", "25565", "-e", "/bin/busybox", "true"], User: "9001" },
  });
