import { oneLine } from "../output.ts";
import { formatTable } from "../table.ts";

/** One thing that was looked at. Only `wrong` makes `capstan doctor` fail; a `note` is worth knowing. */
export interface Finding {
  readonly check: CheckName;
  readonly state: "ok" | "note" | "wrong" | "skipped";
  readonly message: string;
  /** What to do about it. */
  readonly next?: string;
}

export type CheckName =
  | "node"
  | "pinned-node"
  | "bundle"
  | "kubectl"
  | "data-dir"
  | "holder"
  | "api-port"
  | "http-port"
  | "kubeconfig"
  | "api"
  | "kinds"
  | "permissions";

export interface Diagnosis {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  /** The first thing to do, of what is wrong or else of what is worth knowing. */
  readonly next?: string;
}

export function diagnose(findings: readonly Finding[]): Diagnosis {
  const wrong = findings.filter(({ state }) => state === "wrong");
  const next = [...wrong, ...findings].find((finding) => finding.next !== undefined)?.next;
  return { ok: wrong.length === 0, findings, ...(next !== undefined && { next }) };
}

export function renderDiagnosis({ ok, findings, next }: Diagnosis, isWide = false): string {
  const table = formatTable(
    ["", "CHECK", "FOUND", ...(isWide ? ["NEXT"] : [])],
    findings.map((finding) =>
      [finding.state, finding.check, finding.message, ...(isWide ? [finding.next ?? ""] : [])].map(oneLine),
    ),
  );
  const steps = findings.flatMap((finding) => (finding.next ? [`  ${finding.check}: ${finding.next}`] : []));
  const wrong = findings.filter(({ state }) => state === "wrong").length;
  const verdict = ok ? "Nothing is wrong." : `${wrong} ${wrong === 1 ? "thing is" : "things are"} wrong.`;
  return `${table}\n${verdict}${next === undefined ? "" : ` What to do next:\n${steps.join("\n")}`}\n`;
}
