import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { annotations } from "../../src/api/well-known.ts";
import { keyOf } from "../live/collection.ts";
import { useObjects } from "../live/use-live.ts";
import { countsOf } from "../model/counts.ts";
import { targetOf } from "../model/execution-diff.ts";
import { executions } from "../model/kinds.ts";
import { useNamespace } from "../model/namespace.ts";
import { inWords } from "../model/tone.ts";
import { Ago } from "../parts/ago.tsx";
import { Filters } from "../parts/filters.tsx";
import { Card, Empty, Page, Waiting } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { type TableColumn, VirtualTable } from "../parts/virtual-table.tsx";
import { linkTo } from "../router.ts";

const columns: readonly TableColumn<KubernetesExecution>[] = [
  {
    title: "Name",
    rem: 14.6,
    cell: ({ metadata }) => <a href={linkTo("actions", metadata.namespace ?? "", metadata.name)}>{metadata.name}</a>,
  },
  { title: "Namespace", rem: 6.6, cell: ({ metadata }) => <span class="quiet">{metadata.namespace}</span> },
  { title: "Phase", rem: 11.5, cell: ({ status }) => <State word={status?.phase} /> },
  { title: "Action", rem: 13.5, cell: actionText },
  { title: "Asked by", rem: 8.2, cell: ({ metadata }) => metadata.annotations?.[annotations.requestedBy] },
  { title: "Decided by", rem: 6.6, cell: ({ status }) => status?.approval?.by },
  { title: "Created", rem: 5, cell: ({ metadata }) => <Ago time={metadata.creationTimestamp} /> },
];

/** "scale deployment checkout": most actions say the kind of what they change. */
function actionText(execution: KubernetesExecution): string {
  const action = inWords(execution.spec.action);
  const target = targetOf(execution);
  if (!target) return [action, execution.spec.resourceName].filter(Boolean).join(" ");
  const isSaid = action.toLowerCase().endsWith(` ${target.kind.toLowerCase()}`);
  return isSaid ? `${action} ${target.name}` : `${action}: ${target.kind} ${target.name}`;
}

/** What waits for somebody comes first, then what is under way, then the latest. */
const order = ["waiting_approval", "validating", "validated", "executing"];
const rankOf = ({ status }: KubernetesExecution): number => {
  const rank = order.indexOf(status?.phase ?? "validating");
  return rank < 0 ? order.length : rank;
};
const latest = (a: KubernetesExecution, b: KubernetesExecution): number =>
  (b.metadata.creationTimestamp ?? "").localeCompare(a.metadata.creationTimestamp ?? "");

/** Every action that was asked for, by phase. */
export function Actions({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const [namespace] = useNamespace();
  const found = useObjects<KubernetesExecution>(executions, { namespace });
  const [text, setText] = useState("");
  const phase = query.get("phase") ?? "";
  const all = found.kind === "Live" ? found.value : [];
  const shown = useMemo(
    () =>
      all
        .filter(
          ({ metadata, spec, status }) =>
            (phase === "" || (status?.phase ?? "pending") === phase) &&
            `${metadata.namespace}/${metadata.name} ${spec.action}`.toLowerCase().includes(text.toLowerCase()),
        )
        .sort((a, b) => rankOf(a) - rankOf(b) || latest(a, b)),
    [all, phase, text],
  );
  return (
    <Page title="Actions" isWide aside={<a href={linkTo("browse", "remediations")}>Remediation requests</a>}>
      {found.kind !== "Live" ? (
        <Waiting state={found} what="actions" />
      ) : all.length === 0 ? (
        <Empty title={executions.empty}>
          Apply a KubernetesExecution, or a RemediationRequest with steps. Each change is validated, approved where
          policy wants it, and verified.
        </Empty>
      ) : (
        <Card label="Actions" class="flush">
          <Filters
            name="phase"
            chosen={phase}
            counts={countsOf(all.map(({ status }) => status?.phase))}
            total={all.length}
            text={text}
            onText={setText}
            found={shown.length}
          />
          <VirtualTable label="Actions" items={shown} columns={columns} keyOf={keyOf} />
        </Card>
      )}
    </Page>
  );
}
