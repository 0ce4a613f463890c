// The Kubernetes API suite: `npm run conformance [-- --kubeconfig K] [--only TEXT]`. Without a kubeconfig it runs on the
// embedded server. Every case that cannot run says what the server lacks; the last line counts.
import { argv, exit } from "node:process";
import { parseArgs } from "node:util";
import { allCases } from "./cases/index.ts";
import { runSuite } from "./suite.ts";
import { embeddedTarget, kubeconfigTarget } from "./target.ts";

const { values } = parseArgs({
  args: argv.slice(2),
  options: { kubeconfig: { type: "string" }, only: { type: "string" }, verbose: { type: "boolean" } },
});
const target = values.kubeconfig === undefined ? await embeddedTarget() : kubeconfigTarget(values.kubeconfig);
console.log(`${allCases.length} cases on ${target.server}`);
const { passed, failed } = await runSuite(target, allCases, {
  ...(values.only !== undefined && { only: values.only }),
  report(outcome) {
    if (outcome.kind === "passed" && values.verbose) console.log(`ok      ${outcome.name}`);
    if (outcome.kind === "skipped")
      console.log(`skipped ${outcome.name}: this server has no ${outcome.missing.join(", ")}`);
    if (outcome.kind === "failed")
      console.log(`FAILED  ${outcome.name}\n        ${outcome.error.replaceAll("\n", "\n        ")}`);
  },
});
await target.close();
console.log(`${passed} passed, ${failed} failed`);
exit(failed === 0 ? 0 : 1);
