import type { Behaviour } from "../behaviour.ts";

/** Which kind behaves how, by `apiVersion/Kind`. */
export const behaviours: ReadonlyMap<string, Behaviour> = new Map([]);
