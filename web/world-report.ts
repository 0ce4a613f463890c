import { useEffect, useState } from "preact/hooks";

/** What the resolver says of a world; the server works it out with the same code that binds. */
export interface WorldReport {
  readonly namespace: string;
  readonly world: string;
  readonly game: string;
  readonly phase: string;
  readonly message: string;
  readonly requirements: readonly RequirementReport[];
}

export interface RequirementReport {
  readonly consumer: string;
  readonly capabilityId: string;
  readonly versionConstraint: string;
  readonly scope: string;
  readonly multiplicity: string;
  readonly dependencyMode: string;
  readonly outcome: "Bound" | "Unresolved" | "InvalidConstraint" | "Duplicate";
  readonly providers: readonly { readonly module: string; readonly version: string }[];
  readonly reason?: string;
  readonly remedy?: string;
  readonly refused: readonly {
    readonly module: string;
    readonly version: string;
    readonly rule: string;
    readonly objection: string;
  }[];
}

/** Asked again whenever `revision` changes, so that the page follows the cluster. */
export function useWorldReport(namespace: string, name: string, revision: string): WorldReport | undefined {
  const [report, setReport] = useState<WorldReport>();
  useEffect(() => {
    const stop = new AbortController();
    fetch(`/ui/api/worlds/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`, { signal: stop.signal })
      .then((response) => (response.ok ? response.json() : undefined))
      .then((found) => setReport(found as WorldReport | undefined))
      .catch(() => undefined);
    return () => stop.abort();
  }, [namespace, name, revision]);
  return report;
}
