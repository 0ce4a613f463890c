/** Freezes a JSON value to its depths, so that readers can share it without copies. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) freezeObject(value);
  return value;
}

function freezeObject(value: object): void {
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object" && item !== null) freezeObject(item);
  } else {
    const members = value as Readonly<Record<string, unknown>>;
    for (const key in members) {
      const member = members[key];
      if (typeof member === "object" && member !== null) freezeObject(member);
    }
  }
  Object.freeze(value);
}
