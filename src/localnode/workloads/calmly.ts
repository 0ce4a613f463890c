import type { ObjectRate } from "../../runtime/object-rate-limit.ts";

/** How often an owner is looked at while many of its pods change: at once at first, and then for many changes together. */
export const calmly: ObjectRate = { times: 5, withinMs: 250 };
