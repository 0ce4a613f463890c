/** The tag of an image reference: `latest` when it has neither tag nor digest, empty when it cannot be read. */
export function imageTag(reference: string): string {
  const [name = "", digest] = reference.split("@", 2);
  const lastSlash = name.lastIndexOf("/");
  const colon = name.indexOf(":", lastSlash + 1);
  const repository = colon < 0 ? name : name.slice(0, colon);
  const tag = colon < 0 ? undefined : name.slice(colon + 1);
  if (!isRepository(repository)) return "";
  if (tag !== undefined) return /^[\w][\w.-]{0,127}$/.test(tag) ? tag : "";
  return digest === undefined ? "latest" : "";
}

function isRepository(name: string): boolean {
  const slash = name.indexOf("/");
  const first = name.slice(0, Math.max(slash, 0));
  const hasDomain = slash > 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  const path = hasDomain ? name.slice(slash + 1) : name;
  return path.split("/").every((part) => /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/.test(part));
}
