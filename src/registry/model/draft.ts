import type { NewChange } from "./change.ts";
import type { Command } from "./command.ts";
import { type Decision, decide, type Moment, type Rules, type View } from "./decide.ts";
import type { Heard } from "./expiry.ts";
import { placeOf } from "./instance.ts";

/**
 * Decisions that are not durable yet, laid over what is: each one sees those before it, and nobody else sees any of them
 * until they are on disk.
 */
export class Draft implements View {
  readonly changes: NewChange[] = [];
  readonly #base: View;
  readonly #now: Moment;
  readonly #rules: Rules;
  readonly #touched = new Map<string, Heard | undefined>();
  readonly #places = new Map<string, string>();
  readonly #ownersOfName = new Map<string, Set<string>>();
  readonly #counts = new Map<string, number>();

  constructor(base: View, now: Moment, rules: Rules) {
    this.#base = base;
    this.#now = now;
    this.#rules = rules;
  }

  decide(command: Command): Decision {
    const decision = decide(this, command, this.#now, this.#rules);
    for (const change of decision.changes) this.#take(change);
    return decision;
  }

  get(id: string): Heard | undefined {
    return this.#touched.has(id) ? this.#touched.get(id) : this.#base.get(id);
  }

  idAt(place: string): string | undefined {
    return this.#places.get(place) ?? this.#base.idAt(place);
  }

  otherOwnerOf(serviceName: string, owner: string): string | undefined {
    for (const other of this.#ownersOfName.get(serviceName) ?? []) if (other !== owner && other !== "") return other;
    return this.#base.otherOwnerOf(serviceName, owner);
  }

  countOf(owner: string): number {
    return this.#base.countOf(owner) + (this.#counts.get(owner) ?? 0);
  }

  #take(change: NewChange): void {
    const { instance, id } = change;
    const before = this.get(id);
    this.changes.push(change);
    if (instance === null) {
      this.#touched.set(id, undefined);
      if (before) this.#count(before.instance.owner, -1);
      return;
    }
    const { owner, target } = instance;
    if (before === undefined) this.#count(owner, 1);
    const began = instance.pinged && !before?.instance.pinged;
    this.#touched.set(id, {
      instance,
      heardAtMs: began || before === undefined ? this.#now.monotonicMs : before.heardAtMs,
      heardElsewhere: before?.heardElsewhere ?? false,
    });
    this.#places.set(placeOf(owner, target), id);
    if (instance.presence.kind !== "Registered") return;
    const owners = this.#ownersOfName.get(target.serviceName) ?? new Set();
    this.#ownersOfName.set(target.serviceName, owners.add(owner));
  }

  #count(owner: string, by: number): void {
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + by);
  }
}
