// The registry's client for pages, as one file: what `npm run build` puts beside the modules that Node loads.
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const entry = fileURLToPath(new URL("../src/registry/client/index.ts", import.meta.url));

export interface PageBundle {
  readonly code: string;
  /** What it would still have to load; a page wants none. */
  readonly imports: readonly string[];
}

export async function bundleRegistryClient(): Promise<PageBundle> {
  const build = await rolldown({ input: entry, platform: "browser", transform: { target: "es2023" } });
  const { output } = await build.generate({ format: "esm", minify: true });
  await build.close();
  const [{ code, imports }] = output;
  return { code, imports };
}
