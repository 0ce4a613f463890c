import type { JSX } from "preact";
import { inWords } from "../model/tone.ts";

const way = ["validating", "validated", "waiting_approval", "executing", "rollback_ready", "completed"];

interface PhaseStepsProps {
  readonly phase: string;
  /** The last phase that it reached before it failed. */
  readonly reached: string;
}

/** The way of an execution from the wish to its end, and how far it has come. */
export function PhaseSteps({ phase, reached }: PhaseStepsProps): JSX.Element {
  const isFailed = phase === "failed";
  const at = way.indexOf(isFailed ? reached : phase);
  return (
    <ol class="steps" aria-label="Phases">
      {way.map((step, index) => {
        const state =
          index < at || phase === "completed" ? "done" : index === at ? (isFailed ? "failed" : "now") : "later";
        return (
          <li key={step} class={state} aria-current={state === "now" ? "step" : undefined}>
            <span class="dot" aria-hidden="true" />
            {inWords(step)}
            <span class="visually-hidden">
              {state === "done" ? ", done" : state === "failed" ? ", failed here" : ""}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
