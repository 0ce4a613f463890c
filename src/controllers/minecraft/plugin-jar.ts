import { parseYaml } from "../../kube/yaml.ts";
import { asObject, asText, asTexts } from "./json-reading.ts";

/** What a plugin's jar says of itself, in `paper-plugin.yml` or `plugin.yml`. */
export interface JarMetadata {
  readonly version?: string;
  /** `api-version` is the oldest version that it runs on, so `1.21` is read as `1.21+`. */
  readonly minecraftVersions: readonly string[];
  readonly dependencies: readonly { readonly project: string; readonly required: boolean }[];
}

export const metadataFiles = ["paper-plugin.yml", "plugin.yml"] as const;

export function readJarMetadata(files: ReadonlyMap<string, Uint8Array>): JarMetadata {
  for (const name of metadataFiles) {
    const bytes = files.get(name);
    const parsed = bytes && parseYaml(Buffer.from(bytes).toString("utf8"));
    const document = parsed?.ok ? asObject(parsed.documents[0]?.value) : undefined;
    if (!document) continue;
    const version = scalar(document["version"]);
    const minimum = scalar(document["api-version"]);
    return {
      ...(version !== undefined && { version }),
      minecraftVersions: minimum === undefined ? [] : [minimum.includes(".") ? `${minimum}+` : minimum],
      dependencies: [
        ...asTexts(document["depend"]).map((project) => ({ project, required: true })),
        ...asTexts(document["softdepend"]).map((project) => ({ project, required: false })),
        ...serverDependencies(document["dependencies"]),
      ],
    };
  }
  return { minecraftVersions: [], dependencies: [] };
}

function serverDependencies(value: unknown): readonly { readonly project: string; readonly required: boolean }[] {
  const server = asObject(asObject(value)?.["server"]);
  return Object.entries(server ?? {}).map(([project, rule]) => ({
    project,
    required: asObject(rule)?.["required"] !== false,
  }));
}

/** YAML reads 1.20 without quotes as a number. */
const scalar = (value: unknown): string | undefined =>
  typeof value === "number" ? String(value) : asText(value)?.trim() || undefined;
