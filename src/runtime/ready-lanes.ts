import { Heap } from "./heap.ts";
import type { Item } from "./queue-item.ts";

/** Keys that may be worked on now: one FIFO for each priority, the highest first. Entries that became husks are skipped. */
export class ReadyLanes {
  readonly #lanes = new Map<number, Lane>();
  readonly #priorities = new Heap<number>((a, b) => a > b);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: Item): void {
    let lane = this.#lanes.get(item.priority);
    if (lane === undefined) {
      lane = { items: [], head: 0, live: 0 };
      this.#lanes.set(item.priority, lane);
      this.#priorities.push(item.priority);
    }
    item.state = "ready";
    lane.items.push(item);
    lane.live++;
    this.#length++;
  }

  take(): Item | undefined {
    for (;;) {
      const priority = this.#priorities.peek();
      if (priority === undefined) return undefined;
      const item = nextLive(this.#lanes.get(priority) as Lane);
      if (item !== undefined) {
        this.#length--;
        return item;
      }
      this.#priorities.pop();
      this.#lanes.delete(priority);
    }
  }

  /** The item is about to become a husk. */
  discard(item: Item): void {
    this.#length--;
    const lane = this.#lanes.get(item.priority);
    if (lane !== undefined) lane.live--;
  }

  depths(): ReadonlyMap<number, number> {
    return new Map([...this.#lanes].map(([priority, { live }]) => [priority, live]));
  }
}

/** A FIFO whose head moves; the room before it is given back in large pieces. */
interface Lane {
  items: (Item | undefined)[];
  head: number;
  live: number;
}

function nextLive(lane: Lane): Item | undefined {
  while (lane.head < lane.items.length) {
    const item = lane.items[lane.head];
    lane.items[lane.head++] = undefined;
    if (lane.head > 4096 && lane.head * 2 > lane.items.length) {
      lane.items = lane.items.slice(lane.head);
      lane.head = 0;
    }
    if (item?.state !== "ready") continue;
    lane.live--;
    return item;
  }
  return undefined;
}
