import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { rolldown } from "rolldown";
import type { Assets } from "../../src/dashboard/handler.ts";

const web = join(import.meta.dirname, "../../web");

/** The dashboard as it is in the sources, bundled as for people; whatever stands in dist is not looked at. */
export async function buildDashboard(): Promise<Assets> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-web-"));
  try {
    const build = await rolldown({
      input: { main: join(web, "main.tsx") },
      platform: "browser",
      transform: { target: "es2023" },
    });
    await build.write({ dir: folder, format: "esm", entryFileNames: "[name].js", codeSplitting: false, minify: true });
    await build.close();
    return new Map([...filesIn(folder), ...filesIn(join(web, "assets"))]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const filesIn = (folder: string) =>
  readdirSync(folder).map((name) => {
    const contentType = contentTypes[extname(name)] ?? "application/octet-stream";
    const path = name === "index.html" ? "/index.html" : `/assets/${name}`;
    return [path, { contentType, body: readFileSync(join(folder, name)) }] as const;
  });
