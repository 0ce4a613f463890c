/** Takes secrets out of what is about to be written: by the name of a member, and by the look of a text. */
export const redacted = "***REDACTED***";

export function redact(value: unknown): unknown {
  return redactAt(value, 0);
}

export function redactText(text: string): string {
  let cleaned = text;
  for (const { needs, pattern, put } of secretTexts) if (needs(cleaned)) cleaned = cleaned.replace(pattern, put);
  return cleaned;
}

function redactAt(value: unknown, depth: number): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  // Deeper than this nobody writes details; cutting is safer than looking on.
  if (depth >= maxDepth) return redacted;
  if (Array.isArray(value)) return value.map((item) => redactAt(item, depth + 1));
  const cleaned: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const cleanedMember = redactMember(key, (value as Readonly<Record<string, unknown>>)[key], depth);
    // Assigning to this one name would change the object's prototype instead.
    if (key === "__proto__") Object.defineProperty(cleaned, key, { value: cleanedMember, enumerable: true });
    else cleaned[key] = cleanedMember;
  }
  return cleaned;
}

function redactMember(key: string, member: unknown, depth: number): unknown {
  if (publicNames.has(key)) return member;
  return isSecretName(key) ? hidden(member) : redactAt(member, depth + 1);
}

/** Few names come again and again; what was found out about them is kept. */
function isSecretName(name: string): boolean {
  const known = judgedNames.get(name);
  if (known !== undefined) return known;
  const judged = secretName.test(name);
  if (judgedNames.size >= maxJudgedNames) judgedNames.clear();
  judgedNames.set(name, judged);
  return judged;
}
const judgedNames = new Map<string, boolean>();
const maxJudgedNames = 1_000;

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

interface SecretText {
  /** Without this nothing can match; nearly every text is told to be harmless by it, at a small part of the cost. */
  readonly needs: (text: string) => boolean;
  readonly pattern: RegExp;
  readonly put: string;
}

/** Each gives up a little readability of free text for the certainty that what it matches is not written. */
const secretTexts: readonly SecretText[] = [
  {
    needs: (text) => text.includes("-----BEGIN "),
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    put: redacted,
  },
  {
    needs: (text) => text.includes("://"),
    pattern: /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@:]{0,200}:[^\s/@]{1,200}@/gi,
    put: `$1${redacted}@`,
  },
  {
    needs: (text) => text.length >= 14,
    pattern: /\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}/gi,
    put: `$1 ${redacted}`,
  },
  {
    needs: (text) => text.includes("eyJ"),
    pattern: /\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g,
    put: redacted,
  },
  {
    needs: (text) => text.length >= 20 && (text.includes("AKIA") || text.includes("ASIA")),
    pattern: /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g,
    put: redacted,
  },
  {
    needs: (text) => text.includes(":") || text.includes("="),
    pattern:
      /(["']?(?:password|passwd|pwd|passphrase|api[-_ ]?key|access[-_ ]?key|secret|token|auth)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,;}"']+)/gi,
    put: `$1${redacted}`,
  },
  // Long unbroken runs of base64: keys and encoded secrets. Names of objects have dashes and dots in them.
  {
    needs: (text) => text.length >= 33,
    pattern: /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{33,}={0,2}(?![A-Za-z0-9+/=_-])/g,
    put: redacted,
  },
];
