import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type TarEntry, tar } from "./tar.ts";

/** An image of one layer. */
export interface Image {
  /** `capstan:0.1.0` or with a registry's name. */
  readonly reference: string;
  readonly files: readonly TarEntry[];
  /** The `config` of the OCI image configuration: user, entry point, environment. */
  readonly config: Readonly<Record<string, unknown>>;
  /** 9 by default; less is faster, for an image that is thrown away. */
  readonly compression?: number;
}

/** The image as an OCI layout in a tar archive, with the one file that older Docker wants besides. */
export function ociArchive({ reference, files, config, compression = 9 }: Image): Buffer {
  const layer = tar(files);
  const packed = gzipSync(layer, { level: compression });
  const architecture = { x64: "amd64", arm64: "arm64" }[process.arch as "x64" | "arm64"];
  const configuration = json({
    architecture,
    os: "linux",
    config,
    rootfs: { type: "layers", diff_ids: [digest(layer)] },
    history: [{ created_by: "npm run image" }],
  });
  const media = (type: string): string => `application/vnd.oci.image.${type}`;
  const manifest = json({
    schemaVersion: 2,
    mediaType: media("manifest.v1+json"),
    config: { mediaType: media("config.v1+json"), digest: digest(configuration), size: configuration.length },
    layers: [{ mediaType: media("layer.v1.tar+gzip"), digest: digest(packed), size: packed.length }],
  });
  const annotations = {
    "io.containerd.image.name": reference.includes("/") ? reference : `docker.io/library/${reference}`,
    "org.opencontainers.image.ref.name": reference.split(":").at(-1) ?? "",
  };
  const index = json({
    schemaVersion: 2,
    manifests: [{ mediaType: media("manifest.v1+json"), digest: digest(manifest), size: manifest.length, annotations }],
  });
  const docker = json([{ Config: blobPath(configuration), RepoTags: [reference], Layers: [blobPath(packed)] }]);
  return tar([
    entry("oci-layout", json({ imageLayoutVersion: "1.0.0" })),
    entry("index.json", index),
    entry("manifest.json", docker),
    ...[configuration, manifest, packed].map((body) => entry(blobPath(body), body)),
  ]);
}

const entry = (path: string, body: Buffer): TarEntry => ({ kind: "file", path, body, mode: 0o644 });
const blobPath = (body: Buffer): string => `blobs/${digest(body).replace(":", "/")}`;
const digest = (body: Buffer): string => `sha256:${createHash("sha256").update(body).digest("hex")}`;
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
