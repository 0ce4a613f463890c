/**
 * Something that is made when it is first asked for and kept, until nothing happens for a while: what can be made again in
 * milliseconds need not wait in memory for hours.
 */
export function forgettable<T>(make: () => T): () => T {
  const memory: Memory<T> = { kept: undefined };
  // Weakly, so that nothing is kept alive only because it could be forgotten.
  memories.add(new WeakRef(memory));
  return () => {
    memory.kept ??= { value: make() };
    return memory.kept.value;
  };
}

/** Whoever is using one of them meanwhile goes on with what it has. */
export function forgetEverything(): void {
  for (const reference of memories) {
    const memory = reference.deref();
    if (memory === undefined) memories.delete(reference);
    else memory.kept = undefined;
  }
}

interface Memory<T> {
  kept: { readonly value: T } | undefined;
}

const memories = new Set<WeakRef<Memory<unknown>>>();
