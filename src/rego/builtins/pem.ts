/** PEM blocks. */

export interface PemBlock {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Every block of a text, in order; text between them is skipped. */
export function pemBlocks(text: string): { readonly blocks: readonly PemBlock[]; readonly rest: string } {
  const blocks: PemBlock[] = [];
  const pattern = /-----BEGIN ([^\n\r]*?)-----[ \t]*\r?\n([\s\S]*?)-----END \1-----[ \t]*(?:\r?\n|$)/g;
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const body = (match[2] ?? "").replace(/^(?:[A-Za-z0-9-]+: .*\r?\n)+\r?\n/, "");
    blocks.push({ type: match[1] ?? "", bytes: Buffer.from(body.replace(/\s/g, ""), "base64") });
    end = match.index + match[0].length;
  }
  return { blocks, rest: text.slice(end) };
}
