import type { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";

/**
 * The SHA-256 of everything in a spec that decides what will run, made in the browser from what the person was shown: an
 * approval speaks of that and of nothing that came later. It must equal what the executor computes.
 */
export async function specHashOf(spec: KubernetesExecution["spec"]): Promise<string> {
  const { approvalReceived: _approval, cancel: _cancel, ...fixed } = spec;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonicalJson(fixed)));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const parts = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`);
  return `{${parts.join(",")}}`;
}
