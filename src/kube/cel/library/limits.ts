import { CelError, type CelValue } from "../value.ts";

/** No rule needs longer texts, and none may fill the memory of a server. */
export const maxTextLength = 16 * 1024 * 1024;

/** Nor longer lists than this. */
export const maxListLength = 1_000_000;

export const checkedText = (text: string): CelValue =>
  text.length > maxTextLength ? new CelError("the text becomes too long") : text;

const nanosPerSecond = 1_000_000_000n;
/** The years 1 to 9999. */
export const minTimestamp = -62_135_596_800n * nanosPerSecond;
export const maxTimestamp = 253_402_300_799n * nanosPerSecond + 999_999_999n;
