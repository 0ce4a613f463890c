import type { Instance } from "./instance.ts";

/** What happened to one instance. Changes are numbered without gaps, in one order for all replicas. */
export interface Change extends NewChange {
  readonly sequence: number;
}

export interface NewChange {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly atMs: number;
  /** The instance afterwards; null once it is forgotten. Its `order` is 0 until its first change is numbered. */
  readonly instance: Instance | null;
}

export type ChangeKind = "Registered" | "Deregistered" | "Updated" | "Forgotten";

/** Numbers changes after the given one; a new instance takes its place in the order from its first change. */
export function numberChanges(changes: readonly NewChange[], after: number): readonly Change[] {
  const orders = new Map<string, number>();
  return changes.map((change, index) => {
    const sequence = after + index + 1;
    const { instance, id } = change;
    if (instance === null || instance.order !== 0) return { ...change, sequence };
    const order = orders.get(id) ?? sequence;
    orders.set(id, order);
    return { ...change, sequence, instance: { ...instance, order } };
  });
}
