/** Mail addresses in the forms of RFC 5322 that people write: `a@b.c`, `"x y"@b.c`, `Name <a@b.c>`. */
export function isEmailAddress(text: string): boolean {
  if (text.length > maxLength) return false;
  const trimmed = text.trim();
  const open = trimmed.lastIndexOf("<");
  if (open < 0) return isAddress(trimmed);
  if (!trimmed.endsWith(">")) return false;
  return isDisplayName(trimmed.slice(0, open).trim()) && isAddress(trimmed.slice(open + 1, -1).trim());
}

const maxLength = 1024;
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+";
const dotAtom = new RegExp(`^${atom}(?:\\.${atom})*$`, "u");
const quoted = /^"(?:[^"\\\u0000-\u001f]|\\[ -~\t])+"$/;
const domainLiteral = /^\[[0-9A-Fa-f:.]+\]$/;

function isAddress(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1) return false;
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  return (dotAtom.test(local) || quoted.test(local)) && (dotAtom.test(domain) || domainLiteral.test(domain));
}

const isDisplayName = (text: string): boolean =>
  text === "" || quoted.test(text) || text.split(/\s+/).every((word) => dotAtom.test(word) || quoted.test(word));
