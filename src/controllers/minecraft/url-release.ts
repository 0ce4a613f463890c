import { createHash } from "node:crypto";
import type { HttpResponse } from "../../http/message.ts";
import { refusalOfUrl } from "./allowed-address.ts";
import { maxJarBytes } from "./download.ts";
import { JarReader } from "./jar-reader.ts";
import { asTime } from "./json-reading.ts";
import { discard, type Outside, OutsideError } from "./outside.ts";
import { metadataFiles, readJarMetadata } from "./plugin-jar.ts";
import type { PluginRelease } from "./plugin-release.ts";

/** What came of a jar at a fixed address. */
export type UrlRelease =
  | { readonly kind: "Release"; readonly release: PluginRelease }
  /** The server says that nothing has changed since. */
  | { readonly kind: "Unchanged" }
  | { readonly kind: "Refused"; readonly message: string }
  | { readonly kind: "ChecksumMismatch"; readonly message: string };

export interface UrlRequest {
  readonly url: string;
  readonly checksum?: string;
  /** What to call it when the jar does not say. */
  readonly version?: string;
  /** Told by the last answer, to be asked for changes only. */
  readonly etag?: string;
}

const jarTimeoutMs = 120_000;
const maxRedirects = 10;

/** Reads a jar as it passes by: its checksum, and what it says of itself. */
export async function urlRelease(
  request: UrlRequest,
  outside: Outside,
  signal?: AbortSignal,
): Promise<UrlRelease & { readonly etag?: string }> {
  const opened = await follow(request, outside, signal);
  if (opened.kind === "Refused") return opened;
  const { response } = opened;
  if (response.status === 304) return { kind: "Unchanged", ...(request.etag !== undefined && { etag: request.etag }) };
  const { sha256, files } = await digest(response);
  if (request.checksum !== undefined && request.checksum.toLowerCase() !== sha256)
    return {
      kind: "ChecksumMismatch",
      message: `The jar's SHA-256 is ${sha256}, and spec.source.checksum promises ${request.checksum.toLowerCase()}`,
    };
  const { version, minecraftVersions, dependencies } = readJarMetadata(files);
  const releasedAt = asTime(response.headers["last-modified"]);
  const { etag } = response.headers;
  return {
    kind: "Release",
    release: {
      version: version ?? request.version ?? "0.0.0",
      minecraftVersions,
      downloadURL: request.url,
      hash: sha256,
      ...(releasedAt !== undefined && { releasedAt }),
      ...(dependencies.length > 0 && { dependencies }),
    },
    ...(etag !== undefined && { etag }),
  };
}

type Followed =
  | { readonly kind: "Opened"; readonly response: HttpResponse }
  | { readonly kind: "Refused"; readonly message: string };

/** Every address on the way is checked, not only the first. */
async function follow({ url, etag }: UrlRequest, outside: Outside, signal: AbortSignal | undefined): Promise<Followed> {
  let address = url;
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const refusal = refusalOfUrl(address);
    if (refusal !== undefined) {
      const what = hop === 0 ? "spec.source.url is refused" : "spec.source.url leads to an address that is refused";
      return { kind: "Refused", message: `${what}: ${refusal}` };
    }
    const response = await outside.open(address, {
      timeoutMs: jarTimeoutMs,
      headers: { accept: "*/*", ...(etag !== undefined && { "if-none-match": etag }) },
      followsRedirects: true,
      ...(signal && { signal }),
    });
    const { location } = response.headers;
    if (response.status < 301 || response.status > 308 || response.status === 304 || location === undefined)
      return { kind: "Opened", response };
    await discard(response);
    if (!URL.canParse(location, address))
      return { kind: "Refused", message: "spec.source.url leads to something that is not a URL" };
    address = new URL(location, address).href;
  }
  return { kind: "Refused", message: `spec.source.url is redirected more than ${maxRedirects} times` };
}

async function digest({ body }: HttpResponse): Promise<{ sha256: string; files: ReadonlyMap<string, Uint8Array> }> {
  const hash = createHash("sha256");
  const reader = new JarReader(metadataFiles);
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxJarBytes) throw new OutsideError("TooLarge", `the jar is larger than ${maxJarBytes} bytes`);
      hash.update(chunk);
      await pushOrClose(reader, chunk);
    }
  } finally {
    reader.close();
  }
  return { sha256: hash.digest("hex"), files: reader.files };
}

/** A jar that cannot be read is still a file with a checksum. */
async function pushOrClose(reader: JarReader, chunk: Uint8Array): Promise<void> {
  try {
    await reader.push(chunk);
  } catch {
    reader.close();
  }
}
