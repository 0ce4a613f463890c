import type { JSX } from "preact";
import type { Condition } from "../../src/kube/condition.ts";
import { Ago } from "./ago.tsx";

/** Types for which "True" is bad news. */
const troubles = new Set(["Degraded", "TelemetryDegraded", "UpdateBlocked", "PolicyViolation", "BindingsFrozen"]);

/** The conditions of an object, as a table. */
export function Conditions({ conditions }: { readonly conditions: readonly Condition[] }): JSX.Element | null {
  if (conditions.length === 0) return null;
  return (
    <div class="scroll-x">
      <table aria-label="Conditions">
        <thead>
          <tr>
            <th scope="col">Condition</th>
            <th scope="col">Status</th>
            <th scope="col">Reason</th>
            <th scope="col">Message</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
            <tr key={type}>
              <th scope="row">{type}</th>
              <td>
                <span class={`state ${toneOfCondition(type, status)}`}>{status}</span>
              </td>
              <td>{reason}</td>
              <td class="prose">{message}</td>
              <td class="quiet nowrap">
                <Ago time={lastTransitionTime} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function toneOfCondition(type: string, status: string): "good" | "bad" | "quiet" {
  if (status === "Unknown") return "quiet";
  if (troubles.has(type)) return status === "True" ? "bad" : "quiet";
  return status === "True" ? "good" : "quiet";
}
