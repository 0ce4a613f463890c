/** Builds the document of rules with keys in their heads: `p[x].q := 1`, `p[x] contains y`. */
import { equalValues } from "../values/compare.ts";
import { RegoObject, RegoSet, type Value } from "../values/value.ts";
import { RegoError } from "./errors.ts";
import type { CompiledRule } from "./program.ts";

/** Builds a nested document from leaves; two leaves at one place must be equal. */
export class DocumentBuilder {
  readonly root = new RegoObject();
  insertions = 0;
  readonly #inner = new Set<Value>([this.root]);

  insert(path: readonly Value[], value: Value, rule: CompiledRule): void {
    const { parent, key } = this.#parent(path, rule);
    const known = parent.get(key);
    if (known === undefined) parent.set(key, value);
    else if (this.#inner.has(known) || !equalValues(known, value)) throw conflictAt(rule);
    this.insertions++;
  }

  /** An empty object, where there is nothing yet. */
  open(path: readonly Value[], rule: CompiledRule): void {
    this.#parent([...path, null], rule);
  }

  add(path: readonly Value[], member: Value, rule: CompiledRule): void {
    const { parent, key } = this.#parent(path, rule);
    let set = parent.get(key);
    if (set === undefined) {
      set = new RegoSet();
      parent.set(key, set);
    }
    if (!(set instanceof RegoSet)) throw conflictAt(rule);
    set.add(member);
    this.insertions++;
  }

  #parent(path: readonly Value[], rule: CompiledRule): { readonly parent: RegoObject; readonly key: Value } {
    let parent = this.root;
    for (const key of path.slice(0, -1)) {
      let child = parent.get(key);
      if (child === undefined) {
        child = new RegoObject();
        this.#inner.add(child);
        parent.set(key, child);
      }
      if (!(child instanceof RegoObject) || !this.#inner.has(child)) throw conflictAt(rule);
      parent = child;
    }
    return { parent, key: path.at(-1) ?? null };
  }
}

function conflictAt(rule: CompiledRule): RegoError {
  return new RegoError("eval_conflict_error", "object keys must be unique", rule.loc);
}
