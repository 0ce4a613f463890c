/** Times as people say them. */
export function ago(time: string | undefined, nowMs: number): string {
  const atMs = Date.parse(time ?? "");
  if (Number.isNaN(atMs)) return "";
  const text = span(Math.abs(nowMs - atMs));
  if (text === "now") return "just now";
  return atMs > nowMs ? `in ${text}` : `${text} ago`;
}

export function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 || hours >= 10 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}
