// Gated actions: what the audit trail costs against bare inserts, what the controllers cost with stood-in pods, and how long
// real processes take. CAPSTAN_BENCH_ACTIONS and CAPSTAN_BENCH_PROCESSES change the numbers; a busy machine shows in the load.
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { auditTarget, measureAudit } from "./actions/audit.ts";
import { measureProcesses } from "./actions/processes.ts";
import { measureStoodIn } from "./actions/stood-in.ts";

const stoodInActions = Number(process.env["CAPSTAN_BENCH_ACTIONS"] ?? 10_000);
const processActions = Number(process.env["CAPSTAN_BENCH_PROCESSES"] ?? 200);

export async function run(): Promise<void> {
  // The system's timers do not keep a process alive.
  const keepAlive = setInterval(() => undefined, 1_000);
  const load = loadavg()[0]?.toFixed(1);
  const audit = await measureAudit();
  for (const { engine, inFlight, ratio, ratioAtOnce, auditRowsPerSecond } of audit)
    tell(`audit rows against bare inserts, ${engine}, ${inFlight} in flight (target ${auditTarget})`, [
      ratio,
      `${ratioAtOnce} of what is sent at once`,
      `${auditRowsPerSecond}/s`,
    ]);
  const stoodIn = await measureStoodIn(stoodInActions, Math.min(200, stoodInActions));
  tell(`API writes for each of ${stoodIn.actions} actions (target 8 or fewer)`, [stoodIn.writesPerAction]);
  tell("Job done -> status seen, ms (about 100)", Object.values(stoodIn.jobDoneToStatusMs));
  tell("execution done -> remediation seen, ms (under 1000)", Object.values(stoodIn.executionDoneToRemediationMs));
  tell("overhead from submit to the end, without the action, ms", Object.values(stoodIn.overheadMs));
  tell("actions per second, 16 in flight", [stoodIn.actionsPerSecond]);
  tell(`controllers' heap with ${stoodIn.actions} finished executions, MiB, and KiB for each`, [
    stoodIn.heapMiBAtEnd,
    stoodIn.heapKiBPerFinished,
  ]);
  const processes = await measureProcesses(processActions);
  tell(`real processes: ${processes.actions} actions, effects`, [processes.effects]);
  tell("real processes: Job done -> status seen, ms", Object.values(processes.jobDoneToStatusMs));
  tell("real processes: the action itself, ms", Object.values(processes.actionMs));
  tell("real processes: overhead from submit to the end, without the action, ms", Object.values(processes.overheadMs));
  mkdirSync("bench/results", { recursive: true });
  writeFileSync(
    "bench/results/actions.json",
    `${JSON.stringify({ loadAverageAtStart: load, audit, stoodIn, processes }, null, 2)}\n`,
  );
  clearInterval(keepAlive);
}

const tell = (name: string, values: readonly unknown[]): void => console.log(`${name.padEnd(80)} ${values.join(", ")}`);
