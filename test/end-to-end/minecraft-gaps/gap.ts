import type { TestContext } from "node:test";

/** Something that the original operator leaves open, and the proof that it is closed here. */
export interface Gap {
  /** Its number in the list of them; every number is proven once. */
  readonly number: string;
  /** What is true here. */
  readonly says: string;
  prove(context: TestContext): Promise<void>;
}
