/** What applying a patch gives: a new document, or why the patch does not apply. */
export type PatchResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: PatchRefusal; readonly message: string };

/**
 * `Malformed`: not a patch at all (400). `Inapplicable`: a patch, but not for this document (422). `TooLarge`: over a limit
 * (413). `Unsupported`: nothing that the real server has a code for (500).
 */
export type PatchRefusal = "Malformed" | "Inapplicable" | "TooLarge" | "Unsupported";

/** Thrown inside a patch and turned into a result at its edge. */
export class PatchFault extends Error {
  readonly reason: PatchRefusal;

  constructor(reason: PatchRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

export function patchResult(apply: () => unknown): PatchResult {
  try {
    return { ok: true, value: apply() };
  } catch (error) {
    if (error instanceof PatchFault) return { ok: false, reason: error.reason, message: error.message };
    throw error;
  }
}
