import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AuditEntry } from "../../src/audit/entry.ts";
import { type Answer, send } from "../api.ts";
import { useCanAsk } from "../session.tsx";
import { Ago } from "./ago.tsx";
import { Card } from "./page.tsx";

interface AuditProps {
  readonly namespace: string;
  readonly name: string;
  /** Asked again whenever it changes. */
  readonly revision: string;
}

/** Who did what to the execution, from the trail that nobody can change unseen. */
export function AuditCard({ namespace, name, revision }: AuditProps): JSX.Element {
  const [trail, setTrail] = useState<Answer<readonly AuditEntry[]>>();
  const canAsk = useCanAsk("audit");
  useEffect(() => {
    if (!canAsk) return;
    const path = `/ui/api/audit/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
    let isCurrent = true;
    void send<readonly AuditEntry[]>("GET", path).then((answer) => isCurrent && setTrail(answer));
    return () => {
      isCurrent = false;
    };
  }, [namespace, name, revision, canAsk]);
  return (
    <Card title="Audit trail" aside={trail?.kind === "Done" && <span class="count">{trail.value.length}</span>}>
      {!canAsk ? (
        <p class="quiet">No audit trail is kept here.</p>
      ) : trail === undefined ? (
        <p class="quiet loading">Loading the trail…</p>
      ) : (
        <Trail trail={trail} />
      )}
    </Card>
  );
}

function Trail({ trail }: { readonly trail: Answer<readonly AuditEntry[]> }): JSX.Element {
  if (trail.kind === "Refused") return <p class="quiet">The trail cannot be shown: {trail.message}</p>;
  if (trail.value.length === 0) return <p class="quiet">Nothing is written about it yet.</p>;
  return (
    <div class="scroll-x">
      <table aria-label="Audit trail">
        <thead>
          <tr>
            <th scope="col">Row</th>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">Did</th>
            <th scope="col">Result</th>
            <th scope="col">Details</th>
            <th scope="col">Hash</th>
          </tr>
        </thead>
        <tbody>
          {trail.value.map((entry) => (
            <tr key={entry.sequence}>
              <td class="quiet">{entry.sequence}</td>
              <td class="nowrap">
                <Ago time={entry.time} />
              </td>
              <td>{entry.actor}</td>
              <td>{entry.verb}</td>
              <td>{entry.result}</td>
              <td class="quiet prose">{detailsText(entry.details)}</td>
              <td>
                <code title={entry.hash}>{entry.hash.slice(0, 8)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function detailsText(details: string): string {
  try {
    return Object.entries(JSON.parse(details) as Record<string, unknown>)
      .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join(", ");
  } catch {
    return details;
  }
}
