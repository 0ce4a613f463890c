import type { KindRef } from "../kube/kind.ts";
import type { KubeList, KubeObject } from "../kube/object.ts";
import { decodeList } from "./answers.ts";
import { isGone } from "./api-error.ts";
import type { ListOptions } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { listRequest } from "./requests.ts";

/** Objects per page when the caller does not say. */
export const defaultPageLimit = 500;
/** How often one list goes on in a newer snapshot before it is given up: the server forgets faster than we can read. */
export const maxForgottenSnapshots = 3;

/**
 * A list, page by page. When the server forgets the snapshot in the middle (410), it usually offers a token that goes on
 * in a newer one: every object that existed all the time is still seen exactly once, and a watch from the first page's
 * resourceVersion brings the rest. Without such a token the error is the caller's, who has already used some pages.
 */
export async function* listPages<T extends KubeObject>(
  exchange: Exchange,
  kind: KindRef<T>,
  options: ListOptions,
): AsyncGenerator<KubeList<T>, void, undefined> {
  let token: string | undefined;
  let firstVersion: string | undefined;
  let forgotten = 0;
  do {
    let page: KubeList<T>;
    try {
      page = await readPage(exchange, kind, options, token);
    } catch (error) {
      if (token === undefined || !isGone(error) || !error.continueToken) throw error;
      if (++forgotten > maxForgottenSnapshots) throw error;
      token = error.continueToken;
      continue;
    }
    firstVersion ??= page.metadata.resourceVersion;
    token = page.metadata.continue || undefined;
    // Pages of a newer snapshot carry its version; a watch must start where the first page stands.
    if (page.metadata.resourceVersion === firstVersion) yield page;
    else yield { ...page, metadata: { ...page.metadata, ...(firstVersion && { resourceVersion: firstVersion }) } };
  } while (token !== undefined);
}

/** The whole list of one snapshot. When the snapshot is forgotten half way, it starts anew, once, in a single page. */
export async function listAll<T extends KubeObject>(
  exchange: Exchange,
  kind: KindRef<T>,
  options: ListOptions,
): Promise<KubeList<T>> {
  const first = await readPage(exchange, kind, options);
  if (!first.metadata.continue) return first;
  const items = [...first.items];
  for (let token: string | undefined = first.metadata.continue; token; ) {
    let page: KubeList<T>;
    try {
      page = await readPage(exchange, kind, options, token);
    } catch (error) {
      if (!isGone(error)) throw error;
      return await readPage(exchange, kind, { ...options, limit: noLimit });
    }
    for (const item of page.items) items.push(item);
    token = page.metadata.continue;
  }
  const { continue: _token, remainingItemCount: _rest, ...metadata } = first.metadata;
  return { ...first, metadata, items };
}

const noLimit = 0;

async function readPage<T extends KubeObject>(
  exchange: Exchange,
  kind: KindRef<T>,
  options: ListOptions,
  token?: string,
): Promise<KubeList<T>> {
  const request = listRequest(kind, { ...options, limit: options.limit ?? defaultPageLimit }, token);
  return decodeList(request, await exchange.send(request, options), kind, options.metadataOnly === true);
}
