/** Field names as expressions write them: `my-field` is `self.my__dash__field`. */

const reserved: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return".split(" "),
);
const signs: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};
const names: Readonly<Record<string, string>> = { underscores: "__", dot: ".", dash: "-", slash: "/" };

/** Undefined when no expression can name the field. */
export function escapeField(name: string): string | undefined {
  if (name === "" || /^[0-9]/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  if (/[^A-Za-z0-9_.\-/]/.test(name)) return undefined;
  return name.replace(/__|[.\-/]/g, (sign) => signs[sign] ?? sign);
}

/** Undefined when the text is no escaped name. */
export function unescapeField(escaped: string): string | undefined {
  if (!escaped.includes("__")) return escaped;
  let isValid = true;
  const name = escaped.replace(/__([^_]+)__/g, (whole, word: string) => {
    if (names[word] !== undefined) return names[word];
    if (reserved.has(word) && whole.length === escaped.length) return word;
    isValid = false;
    return "";
  });
  return isValid ? name : undefined;
}
