import type { Argument, Option } from "commander";

/** What a person has typed already, as far as it decides what may follow. */
export interface Typed {
  /** The arguments before the one that is asked for. */
  readonly words: readonly string[];
  /** Flags by their attribute names: `dataDir`, `namespace`. */
  readonly flags: Readonly<Record<string, string>>;
}

/** Names that only a server knows. May throw or take long: whoever asks gives up soon, and silently. */
export type Supplier = (typed: Typed) => Promise<readonly string[]>;

/** Marks an argument or a flag whose values are asked for when somebody presses Tab. */
export function asking<Part extends Argument | Option>(part: Part, supplier: Supplier): Part {
  suppliers.set(part, supplier);
  return part;
}

export const supplierOf = (part: Argument | Option): Supplier | undefined => suppliers.get(part);

const suppliers = new WeakMap<Argument | Option, Supplier>();
