import type { JSX } from "preact";
import type { ConditionResult } from "../../src/api/action-condition.ts";
import type { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { Card } from "./page.tsx";
import { Check } from "./state.tsx";

/** What was checked before anything ran, and after it. */
export function ValidationCard({ execution }: { readonly execution: KubernetesExecution }): JSX.Element {
  const found = execution.status?.validationResults;
  if (!found) return <Card title="Validation">{<p class="quiet">Not checked yet.</p>}</Card>;
  const { policyValidation: policy, dryRunResults: dryRun } = found;
  return (
    <Card title="Validation">
      <ul class="checks">
        <Check passed={found.parameterValidation}>Parameters are complete and valid</Check>
        <Check passed={found.resourceExists}>The target is there, as expected and not protected</Check>
        <Check passed={found.rbacValidation}>The action's ServiceAccount may do it</Check>
        <Check passed={policy?.allowed}>
          Safety policies allow it
          {policy && <span class="quiet"> · {policy.policyName}</span>}
          {policy?.requiredApproval && <span class="quiet"> · they ask for an approval</span>}
          {policy?.violations?.map((violation) => (
            <div key={violation} class="bad-text">
              {violation}
            </div>
          ))}
        </Check>
        <Check passed={dryRun?.performed ? dryRun.success : undefined}>
          Dry run on the server
          {!dryRun?.performed && <span class="quiet"> · not asked for</span>}
          {[...(dryRun?.errors ?? []), ...(dryRun?.warnings ?? [])].map((text) => (
            <div key={text} class="bad-text">
              {text}
            </div>
          ))}
        </Check>
        <Conditions title="Before it runs" results={found.preConditionResults ?? []} />
        <Conditions title="After it has run" results={found.postConditionResults ?? []} />
      </ul>
      {(found.errors ?? []).map((text) => (
        <p key={text} class="bad-text">
          {text}
        </p>
      ))}
    </Card>
  );
}

function Conditions({
  title,
  results,
}: {
  readonly title: string;
  readonly results: readonly ConditionResult[];
}): JSX.Element {
  return (
    <>
      {results.map(({ conditionType, passed, required, errorMessage }) => (
        <Check key={`${title} ${conditionType}`} passed={passed}>
          {title}: {conditionType}
          {required === false && <span class="quiet"> · only a warning</span>}
          {errorMessage && <div class="bad-text">{errorMessage}</div>}
        </Check>
      ))}
    </>
  );
}
