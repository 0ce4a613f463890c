// Writes the images that a bare cluster needs, from the machine's busybox: `pause` for every pod, `busybox`, and three that
// stand in for workloads: `httpd` answers on port 8080, `crash` ends at once with exit code 1, `greedy` takes all the
// memory that it can get.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ociArchive } from "../image/oci.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: small-images.ts FOLDER");
mkdirSync(folder, { recursive: true });
const busybox = readFileSync("/bin/busybox");
const program = (path: string) => ({ kind: "file", path, body: busybox, mode: 0o755 }) as const;
const base = [
  { kind: "folder", path: "bin", mode: 0o755 },
  { kind: "folder", path: "tmp", mode: 0o1777 },
] as const;
const images = [
  {
    name: "docker.io/local/pause:1",
    command: ["/bin/busybox", "sleep", "2147483647"],
    files: [...base, program("bin/busybox")],
  },
  {
    name: "docker.io/local/busybox:1",
    command: ["/bin/sh"],
    files: [...base, program("bin/busybox"), program("bin/sh")],
  },
  {
    name: "docker.io/local/httpd:1",
    command: ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/tmp"],
    files: [...base, program("bin/busybox")],
  },
  {
    name: "docker.io/local/crash:1",
    command: ["/bin/busybox", "false"],
    files: [...base, program("bin/busybox")],
  },
  {
    // A line without an end, of which it would keep all.
    name: "docker.io/local/greedy:1",
    command: ["/bin/busybox", "tail", "/dev/zero"],
    files: [...base, program("bin/busybox")],
  },
];
for (const { name, command, files } of images) {
  const archive = ociArchive({ reference: name, files, config: { Entrypoint: command, Env: ["PATH=/bin"] } });
  const short = createHash("sha256").update(name).digest("hex").slice(0, 8);
  writeFileSync(join(folder, `${short}.tar`), archive);
}
