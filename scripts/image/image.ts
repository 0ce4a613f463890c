// `npm run image`: an OCI image archive of Capstan, written without a container engine. The same sources give the same
// bytes. It loads with `docker load`, `podman load`, `ctr images import`, `kind load image-archive` and `k3d image import`.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundle } from "../bundle.mjs";
import { rootFiles, userId, workFolder } from "./root-files.ts";
import { type TarEntry, tar } from "./tar.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const name = process.env["CAPSTAN_IMAGE"] ?? `capstan:${version}`;
const folder = join("dist", "image");

await bundle();
mkdirSync(folder, { recursive: true });
const archive = imageArchive(name);
const path = join(folder, `capstan-${version}.tar`);
writeFileSync(path, archive);
writeFileSync(join(folder, `capstan-${version}.sbom.json`), softwareBill());
console.log(`${path}  ${(archive.length / 1024 / 1024).toFixed(1)} MiB  sha256:${sha256(archive)}`);

function imageArchive(reference: string): Buffer {
  const layer = tar(rootFiles());
  const packed = gzipSync(layer, { level: 9 });
  const architecture = { x64: "amd64", arm64: "arm64" }[process.arch as "x64" | "arm64"];
  const config = json({
    architecture,
    os: "linux",
    config: {
      User: `${userId}:${userId}`,
      Env: ["PATH=/usr/local/bin", "NODE_ENV=production", "HOME=/tmp"],
      Entrypoint: ["capstan"],
      WorkingDir: workFolder,
      Labels: {
        "org.opencontainers.image.title": "capstan",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0",
      },
    },
    rootfs: { type: "layers", diff_ids: [`sha256:${sha256(layer)}`] },
    history: [{ created_by: "npm run image" }],
  });
  const media = (type: string): string => `application/vnd.oci.image.${type}`;
  const manifest = json({
    schemaVersion: 2,
    mediaType: media("manifest.v1+json"),
    config: { mediaType: media("config.v1+json"), digest: `sha256:${sha256(config)}`, size: config.length },
    layers: [{ mediaType: media("layer.v1.tar+gzip"), digest: `sha256:${sha256(packed)}`, size: packed.length }],
  });
  const full = reference.includes("/") ? reference : `docker.io/library/${reference}`;
  const index = json({
    schemaVersion: 2,
    manifests: [
      {
        mediaType: media("manifest.v1+json"),
        digest: `sha256:${sha256(manifest)}`,
        size: manifest.length,
        annotations: {
          "io.containerd.image.name": full,
          "org.opencontainers.image.ref.name": reference.split(":").at(-1) ?? "",
        },
      },
    ],
  });
  const blob = (body: Buffer): TarEntry => ({ kind: "file", path: `blobs/sha256/${sha256(body)}`, body, mode: 0o644 });
  const top = (path: string, body: Buffer): TarEntry => ({ kind: "file", path, body, mode: 0o644 });
  // Docker before version 25 reads manifest.json, everything else the OCI layout.
  const docker = json([
    { Config: `blobs/sha256/${sha256(config)}`, RepoTags: [reference], Layers: [`blobs/sha256/${sha256(packed)}`] },
  ]);
  return tar([
    top("oci-layout", json({ imageLayoutVersion: "1.0.0" })),
    top("index.json", index),
    top("manifest.json", docker),
    blob(config),
    blob(manifest),
    blob(packed),
  ]);
}

/** What is inside, from the lockfile; times and serial numbers would make every build differ. */
function softwareBill(): string {
  const text = execFileSync("npm", ["sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only"], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const bill = JSON.parse(text) as { serialNumber?: string; metadata?: { timestamp?: string } };
  delete bill.serialNumber;
  delete bill.metadata?.timestamp;
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function sha256(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}
