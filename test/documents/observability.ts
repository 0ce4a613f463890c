import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** The queries that we ship: of the dashboard's panels and of the alert rules. */
export interface ShippedQuery {
  /** The panel or alert that it belongs to. */
  readonly where: string;
  readonly query: string;
}

const folder = join(import.meta.dirname, "../../deploy/observability");
export const alertsFile = join(folder, "alerts.yaml");

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

export function shippedQueries(): readonly ShippedQuery[] {
  const dashboard = JSON.parse(readFileSync(join(folder, "grafana-dashboard.json"), "utf8")) as Dashboard;
  const rules = parse(readFileSync(alertsFile, "utf8")) as Rules;
  return [
    ...dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ where: `panel "${title}"`, query: expr.replaceAll("$job", ".*") })),
    ),
    ...rules.groups.flatMap((group) =>
      group.rules.map(({ alert, expr }) => ({ where: `alert ${alert}`, query: expr })),
    ),
  ];
}

/** The metric names in a query: words that are no function, label or keyword. */
export const metricsIn = (query: string): readonly string[] => [
  ...new Set(query.match(/\b(?:[a-z]+_)+[a-z]+\b/g)?.filter((word) => !functions.has(word)) ?? []),
];

const functions = new Set(["histogram_quantile"]);
