// `npm run image`: an OCI image archive of Capstan, written without a container engine. The same sources give the same
// bytes. It loads with `docker load`, `podman load`, `ctr images import`, `kind load image-archive` and `k3d image import`.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capstanImage, packageVersion } from "./capstan-image.ts";

const version = packageVersion();
const name = process.env["CAPSTAN_IMAGE"] ?? `capstan:${version}`;
const folder = join("dist", "image");

mkdirSync(folder, { recursive: true });
const archive = await capstanImage(name);
const path = join(folder, `capstan-${version}.tar`);
writeFileSync(path, archive);
writeFileSync(join(folder, `capstan-${version}.sbom.json`), softwareBill());
console.log(
  `${path}  ${(archive.length / 1024 / 1024).toFixed(1)} MiB  sha256:${createHash("sha256").update(archive).digest("hex")}`,
);

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
