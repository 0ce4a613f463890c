/** Keys of ConfigMaps and Secrets, which become file names. */
export function keyProblems(data: Readonly<Record<string, string>>): readonly string[] {
  const keys = Object.keys(data);
  if (keys.length === 0) return ["data: at least one key is required"];
  return keys
    .filter((key) => key.length > 253 || !/^[-._a-zA-Z0-9]+$/.test(key) || key === "." || key.startsWith(".."))
    .map((key) => `data[${JSON.stringify(key.slice(0, 64))}]: a key has letters, digits, '-', '_' and '.' only`);
}

/** Names of keys may be told, values may not. */
export const keysText = (data: Readonly<Record<string, string>>): string =>
  `keys set: ${Object.keys(data).sort().join(", ")}`;
