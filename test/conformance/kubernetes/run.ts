// The Kubernetes API suite: `npm run conformance [-- --kubeconfig K] [--only TEXT]`. Without a kubeconfig it runs on the
// embedded server. Every case that cannot run says what the server lacks; the last line counts.
import { argv, exit } from "node:process";
import { parseArgs } from "node:util";
import { allCases } from "./cases/index.ts";
import { runEmbedded, runSuite, type SuiteOptions, type SuiteResult } from "./suite.ts";
import { kubeconfigTarget } from "./target.ts";

const { values } = parseArgs({
  args: argv.slice(2),
  options: { kubeconfig: { type: "string" }, only: { type: "string" }, verbose: { type: "boolean" } },
});
const options: SuiteOptions = {
  ...(values.only !== undefined && { only: values.only }),
  report(outcome) {
    if (outcome.kind === "passed" && values.verbose) console.log(`ok      ${outcome.name}`);
    if (outcome.kind === "skipped")
      console.log(`skipped ${outcome.name}: this server has no ${outcome.missing.join(", ")}`);
    if (outcome.kind === "failed")
      console.log(`FAILED  ${outcome.name}\n        ${outcome.error.replaceAll("\n", "\n        ")}`);
  },
};

async function runOn(kubeconfig: string): Promise<SuiteResult> {
  const target = kubeconfigTarget(kubeconfig);
  console.log(`${allCases.length} cases on ${target.server}`);
  const result = await runSuite(target, allCases, options);
  await target.close();
  return result;
}

function runHere(): Promise<SuiteResult> {
  console.log(`${allCases.length} cases on the embedded server`);
  return runEmbedded(allCases, options);
}

const { passed, failed } = await (values.kubeconfig === undefined ? runHere() : runOn(values.kubeconfig));
console.log(`${passed} passed, ${failed} failed`);
exit(failed === 0 ? 0 : 1);
