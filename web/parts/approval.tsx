import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { annotations } from "../../src/api/well-known.ts";
import { mayI, send } from "../api.ts";
import { executions, pathOf } from "../model/kinds.ts";
import { specHashOf } from "../model/spec-hash.ts";
import { useSession } from "../session.tsx";
import { Ago } from "./ago.tsx";
import { Card } from "./page.tsx";

/** Whether somebody decided, or the buttons with which the signed-in person does. */
export function ApprovalCard({ execution }: { readonly execution: KubernetesExecution }): JSX.Element | null {
  const { status } = execution;
  if (status?.approval) {
    const { by, decision, at, reason } = status.approval;
    return (
      <Card title="Decision" class={decision === "Approved" ? "good-edge" : "bad-edge"}>
        <p>
          <strong>{decision}</strong> by {by}{" "}
          <span class="quiet">
            <Ago time={at} />
          </span>
        </p>
        {reason && <blockquote>{reason}</blockquote>}
      </Card>
    );
  }
  if (status?.phase !== "waiting_approval") return null;
  return <Decide key={execution.metadata.uid} execution={execution} />;
}

type Outcome =
  | { readonly kind: "None" }
  | { readonly kind: "Sending" }
  | { readonly kind: "Refused"; readonly message: string };

function Decide({ execution }: { readonly execution: KubernetesExecution }): JSX.Element {
  const session = useSession();
  const may = useMayApprove(execution);
  const [reason, setReason] = useState("");
  const [outcome, setOutcome] = useState<Outcome>({ kind: "None" });
  const { name, namespace = "" } = execution.metadata;
  const requester = execution.metadata.annotations?.[annotations.requestedBy];
  const me = session.kind === "SignedIn" ? session.username : "";

  const decide = async (decision: "Approved" | "Rejected"): Promise<void> => {
    setOutcome({ kind: "Sending" });
    const { uid, resourceVersion } = execution.metadata;
    const approval = {
      decision,
      by: me,
      at: `${new Date().toISOString().slice(0, 19)}Z`,
      specHash: await specHashOf(execution.spec),
      ...(reason.trim() !== "" && { reason: reason.trim() }),
    };
    // Under the version that was shown: if anything has changed since, the server says so and nothing is decided.
    const answer = await send(
      "PATCH",
      `/k8s${pathOf(executions, { namespace })}/${encodeURIComponent(name)}/status`,
      { metadata: { uid, resourceVersion }, status: { approval } },
      "application/merge-patch+json",
    );
    setOutcome(answer.kind === "Refused" ? { kind: "Refused", message: answer.message } : { kind: "None" });
  };

  return (
    <Card title="Waits for a decision" class="wait-edge">
      <p>
        {requester ? (
          <>
            Asked for by <strong>{requester}</strong>.{" "}
          </>
        ) : null}
        You are <strong>{me}</strong>.
        {requester === me && me !== "" && " Whoever asked for an action cannot approve it."}
      </p>
      {may === false && (
        <p class="quiet">
          RBAC does not let you decide: it takes the verb <code>approve</code> on kubernetesexecutions in {namespace},
          and <code>patch</code> on their status.
        </p>
      )}
      <form class="decide" onSubmit={(event) => event.preventDefault()}>
        <label>
          Reason
          <input
            type="text"
            value={reason}
            maxLength={1000}
            placeholder="Why, in your words (optional)"
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        <div class="buttons">
          <button
            type="button"
            class="primary"
            disabled={may === false || outcome.kind === "Sending"}
            onClick={() => void decide("Approved")}
          >
            Approve
          </button>
          <button
            type="button"
            class="danger"
            disabled={may === false || outcome.kind === "Sending"}
            onClick={() => void decide("Rejected")}
          >
            Reject
          </button>
        </div>
      </form>
      <div role="alert">
        {outcome.kind === "Refused" && (
          <p class="notice bad">
            <strong>The server refused:</strong> {outcome.message}
          </p>
        )}
      </div>
    </Card>
  );
}

/** Asked of RBAC; undefined until the answer is here. */
function useMayApprove({ metadata: { namespace = "", name } }: KubernetesExecution): boolean | undefined {
  const [may, setMay] = useState<boolean>();
  useEffect(() => {
    const on = { group: "kubernetesexecution.kubernaut.io", resource: executions.plural, namespace, name };
    void Promise.all([mayI({ ...on, verb: "approve" }), mayI({ ...on, verb: "patch", subresource: "status" })]).then(
      (answers) => setMay(answers.every(Boolean)),
    );
  }, [namespace, name]);
  return may;
}
