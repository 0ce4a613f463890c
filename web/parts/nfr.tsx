import type { JSX } from "preact";
import type { ClassRuntime } from "../../src/api/class-runtime.ts";
import { Ago } from "./ago.tsx";
import { Card, Facts } from "./page.tsx";
import { State } from "./state.tsx";

const sayings: Readonly<Record<string, string>> = {
  off: "Nothing is recommended.",
  observe: "Recommendations are made, and nobody applies them.",
  enforce: "Recommendations that stay stable are applied by themselves.",
};

/** What the class must achieve, what is recommended for it, and what enforcement made of that. */
export function NfrCard({ runtime }: { readonly runtime: ClassRuntime }): JSX.Element {
  const { spec, status } = runtime;
  const mode = (spec.enforcement?.mode ?? "observe").toLowerCase();
  const wanted = spec.nfr_requirements;
  const enforced = status?.conditions?.find(({ type }) => type === "NfrEnforced");
  const observed = status?.conditions?.find(({ type }) => type === "NfrObserved");
  return (
    <Card
      title="Non-functional requirements"
      aside={<State word={mode} tone={mode === "enforce" ? "good" : "quiet"} />}
    >
      <Facts
        facts={[
          [
            "Throughput",
            wanted?.min_throughput_rps !== undefined && `at least ${wanted.min_throughput_rps} requests/s`,
          ],
          ["Latency", wanted?.max_latency_ms !== undefined && `at most ${wanted.max_latency_ms} ms`],
          ["Availability", wanted?.availability_pct !== undefined && `${wanted.availability_pct} %`],
          ["Consistency", wanted?.consistency],
          ["May change", spec.enforcement?.dimensions?.join(", ")],
          ["Observed", observed && `${observed.reason}: ${observed.message ?? ""}`],
          ["Enforced", enforced && `${enforced.reason}: ${enforced.message ?? ""}`],
        ]}
      />
      <p class="quiet">{sayings[mode] ?? sayings["observe"]}</p>
      <Recommendations runtime={runtime} />
    </Card>
  );
}

function Recommendations({ runtime: { status } }: { readonly runtime: ClassRuntime }): JSX.Element | null {
  const recommended = Object.entries(status?.nfr_recommendations ?? {});
  if (recommended.length === 0) return <p class="quiet">No recommendation was made yet.</p>;
  return (
    <div class="scroll-x">
      <table aria-label="Recommendations">
        <thead>
          <tr>
            <th scope="col">Dimension</th>
            <th scope="col" class="number">
              Recommended
            </th>
            <th scope="col">Basis</th>
            <th scope="col">Confidence</th>
            <th scope="col">Computed</th>
            <th scope="col">Enforcement</th>
            <th scope="col">Last applied</th>
          </tr>
        </thead>
        <tbody>
          {recommended.map(([dimension, value]) => {
            const detail = status?.nfr_recommendation_details?.[dimension];
            const state = status?.nfr_enforcement_state?.[dimension];
            const applied = status?.last_applied_recommendations?.findLast((entry) => entry.dimension === dimension);
            return (
              <tr key={dimension}>
                <th scope="row">{dimension}</th>
                <td class="number">
                  <strong>{typeof value === "object" ? JSON.stringify(value) : String(value)}</strong>
                </td>
                <td>{detail?.basis}</td>
                <td>{detail?.confidence !== undefined && <Confidence share={detail.confidence} />}</td>
                <td class="quiet nowrap">
                  <Ago time={detail?.observed_at} />
                </td>
                <td>
                  {state?.last_change_at && (
                    <div>
                      stable since <Ago time={state.last_change_at} />
                    </div>
                  )}
                  {state?.cooldown_until && Date.parse(state.cooldown_until) > Date.now() && (
                    <div>
                      next change <Ago time={state.cooldown_until} />
                    </div>
                  )}
                  {(state?.failures ?? 0) > 0 && <div class="bad-text">failed {state?.failures} times</div>}
                </td>
                <td>
                  {applied && (
                    <>
                      {applied.target}{" "}
                      <span class="quiet">
                        <Ago time={applied.applied_at} />
                      </span>
                    </>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Confidence({ share }: { readonly share: number }): JSX.Element {
  return (
    <span class="confidence">
      <meter min={0} max={1} value={share} aria-label="Confidence" />
      {Math.round(share * 100)} %
    </span>
  );
}
