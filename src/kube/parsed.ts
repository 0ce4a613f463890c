/** What reading a text gives: the value, or the sentence that says what is wrong with it. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value });
export const refused = <T = never>(message: string): Parsed<T> => ({ ok: false, message });

/** For texts that the program itself wrote: anything unreadable is a bug. */
export function parsedOrThrow<T>(result: Parsed<T>): T {
  if (!result.ok) throw new RangeError(result.message);
  return result.value;
}
