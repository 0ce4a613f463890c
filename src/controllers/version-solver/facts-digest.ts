import { createHash } from "node:crypto";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import type { Rest } from "../../solver/rest.ts";

/** Changes exactly when something changes that an answer depends on. */
export function factsDigest(object: PaperMCServer | Plugin): string {
  const known = digests.get(object);
  if (known !== undefined) return known;
  const hash = createHash("sha1");
  for (const piece of factsOf(object)) hash.update(JSON.stringify(piece) ?? "-");
  return remember(object, hash.digest("base64"));
}

/** The same, for objects with thousands of versions, beside others. */
export async function digestInSlices(object: PaperMCServer | Plugin, rest: Rest): Promise<string> {
  const known = digests.get(object);
  if (known !== undefined) return known;
  const hash = createHash("sha1");
  for (const piece of factsOf(object)) {
    hash.update(JSON.stringify(piece) ?? "-");
    const pause = rest();
    if (pause) await pause;
  }
  return remember(object, hash.digest("base64"));
}

const digests = new WeakMap<object, string>();

function remember(object: object, digest: string): string {
  digests.set(object, digest);
  return digest;
}

/** In pieces, each of which is short. */
function* factsOf(object: PaperMCServer | Plugin): Generator<unknown> {
  const { metadata, status } = object;
  yield [metadata.name, metadata.deletionTimestamp, status?.repositoryStatus];
  if (isServer(object)) {
    const { updateStrategy, version, build, updateDelay } = object.spec;
    yield [metadata.labels, updateStrategy, version, build, updateDelay];
    yield [object.status?.currentVersion, object.status?.currentBuild];
    yield object.status?.plugins?.map(({ pluginRef, currentVersion }) => [pluginRef.name, currentVersion]);
  } else yield object.spec;
  yield status?.availableVersions?.length;
  for (const available of status?.availableVersions ?? []) yield available;
}

const isServer = (object: PaperMCServer | Plugin): object is PaperMCServer => !("instanceSelector" in object.spec);
