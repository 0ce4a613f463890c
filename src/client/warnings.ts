/**
 * The texts of a Warning header (RFC 7234, 5.5), which Kubernetes sends for deprecated APIs and doubtful fields:
 * `299 - "unknown field \"spec.replica\"", 299 - "…"`. What cannot be read as a warning is given as it stands.
 */
export function parseWarnings(header: string | undefined): readonly string[] {
  if (!header) return [];
  const texts: string[] = [];
  let rest = header.trim();
  while (rest !== "") {
    const match = warning.exec(rest);
    if (!match) return [...texts, rest];
    texts.push((match[1] ?? "").replace(/\\(.)/gs, "$1"));
    rest = rest.slice(match[0].length).trim();
  }
  return texts;
}

/** Code, agent, quoted text and an optional quoted date; then the comma before the next one. */
const warning = /^\d{3}\s+\S+\s+"((?:[^"\\]|\\.)*)"(?:\s+"[^"]*")?\s*(?:,|$)/s;
