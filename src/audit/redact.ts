/** Takes secrets out of what is about to be written: by the name of a member, and by the look of a text. */
export const redacted = "***REDACTED***";

export function redact(value: unknown): unknown {
  return redactAt(value, 0);
}

export function redactText(text: string): string {
  return secretTexts.reduce((cleaned, { pattern, put }) => cleaned.replace(pattern, put), text);
}

function redactAt(value: unknown, depth: number): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  // Deeper than this nobody writes details; cutting is safer than looking on.
  if (depth >= maxDepth) return redacted;
  if (Array.isArray(value)) return value.map((item) => redactAt(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (publicNames.has(key)) return [key, member];
      return [key, secretName.test(key) ? hidden(member) : redactAt(member, depth + 1)];
    }),
  );
}

/** Yes and no give nothing away, and readers may need them. */
const hidden = (member: unknown): unknown =>
  member === undefined || member === null || typeof member === "boolean" ? member : redacted;

const maxDepth = 32;

const secretName =
  /passw(or)?d|^pwd$|passphrase|api[-_]?key|access[-_]?key|private[-_]?key|token|^auth$|authorization|secret|credential|cookie/i;

/** Members that we write ourselves; they are long and look random, but are meant to be read. */
const publicNames: ReadonlySet<string> = new Set([
  "specHash",
  "policyHash",
  "sha256",
  "uid",
  "jobUID",
  "idempotencyKey",
  "serviceAccount",
  "action",
]);

/** Each gives up a little readability of free text for the certainty that what it matches is not written. */
const secretTexts: readonly { readonly pattern: RegExp; readonly put: string }[] = [
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, put: redacted },
  { pattern: /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@:]{0,200}:[^\s/@]{1,200}@/gi, put: `$1${redacted}@` },
  { pattern: /\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}/gi, put: `$1 ${redacted}` },
  { pattern: /\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g, put: redacted },
  { pattern: /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g, put: redacted },
  {
    pattern:
      /(["']?(?:password|passwd|pwd|passphrase|api[-_ ]?key|access[-_ ]?key|secret|token|auth)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,;}"']+)/gi,
    put: `$1${redacted}`,
  },
  // Long unbroken runs of base64: keys and encoded secrets. Names of objects have dashes and dots in them.
  { pattern: /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{33,}={0,2}(?![A-Za-z0-9+/=_-])/g, put: redacted },
];
