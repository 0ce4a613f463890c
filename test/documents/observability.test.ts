import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { metricsIn, shippedQueries } from "./observability.ts";

const reference = readFileSync(join(import.meta.dirname, "../../docs/reference/metrics.md"), "utf8");
/** With the series that a histogram is made of. */
const known = new Set(
  [...reference.matchAll(/^\| `(\w+)`\s+\| (\w+)/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
);

test("every metric in the Grafana dashboard and the alert rules exists", () => {
  const queries = shippedQueries();
  assert.ok(queries.length > 25, `${queries.length} queries`);
  const strangers = queries.flatMap(({ where, query }) => {
    const metrics = metricsIn(query);
    assert.ok(metrics.length > 0, `${where} uses a metric`);
    return metrics.filter((metric) => !known.has(metric)).map((metric) => `${where}: ${metric}`);
  });
  assert.deepEqual(strangers, []);
});
