import type { CancelTimer, Env } from "../../env/env.ts";
import type { ContainerRun, RunRequest, RunState } from "./container-run.ts";
import { type Behaviour, parseSimulation, plainBehaviour, simulateAnnotation } from "./simulate.ts";

/** A container that nobody really runs: it starts, becomes ready and stays up, unless the pod asks for something else. */
export function standIn(env: Env, request: RunRequest): ContainerRun {
  const behaviour = behaviourOf(request);
  const timers = new Set<CancelTimer>();
  let state: RunState = { kind: "Starting" };
  let isStopping = false;

  const become = (next: RunState): void => {
    if (state.kind === "Exited") return;
    state = next;
    if (next.kind === "Exited") for (const cancel of timers) cancel();
    request.onChange();
  };
  const later = (delayMs: number, step: () => void): void => {
    if (delayMs <= 0) {
      step();
      return;
    }
    const cancel = env.setTimer(delayMs, () => {
      timers.delete(cancel);
      step();
    });
    timers.add(cancel);
  };
  const exit = (exitCode: number, reason = exitCode === 0 ? "Completed" : "Error"): void => {
    const startedAt = state.kind === "Running" ? { startedAt: state.startedAt } : {};
    become({ kind: "Exited", exitCode, reason, ...startedAt, finishedAt: env.now() });
  };
  const run = (): void => {
    const startedAt = request.runningSince ?? env.now();
    const ageMs = Math.max(0, env.now().getTime() - startedAt.getTime());
    const readyInMs = behaviour.readyAfterMs === undefined ? undefined : behaviour.readyAfterMs - ageMs;
    state = { kind: "Running", startedAt, ready: readyInMs !== undefined && readyInMs <= 0 };
    request.onChange();
    if (readyInMs !== undefined && readyInMs > 0)
      later(readyInMs, () => become({ kind: "Running", startedAt, ready: true }));
    const { exit: end } = behaviour;
    if (end !== undefined) later(end.afterMs - ageMs, () => exit(end.code, end.isOutOfMemory && "OOMKilled"));
  };

  if (behaviour.neverStart) {
    const image = JSON.stringify(request.container.image ?? "");
    state = { kind: "Starting", problem: { reason: "ImagePullBackOff", message: `Back-off pulling image ${image}` } };
  } else if (request.runningSince !== undefined) run();
  else later(behaviour.startAfterMs, run);

  return {
    get state() {
      return state;
    },
    stop(graceMs) {
      if (state.kind === "Exited") return;
      const isSlow = behaviour.stopAfterMs > graceMs;
      if (isStopping && graceMs > 0) return;
      isStopping = true;
      // What becomes of a program that leaves a SIGTERM alone, or is killed because it takes too long.
      later(Math.min(behaviour.stopAfterMs, graceMs), () => exit(isSlow ? 137 : 143));
    },
  };
}

/** An init container has to end, or the pod would never begin. */
function behaviourOf({ pod, container, role }: RunRequest): Behaviour {
  const simulation = parseSimulation(pod.metadata.annotations?.[simulateAnnotation]);
  const behaviour = simulation.ok ? simulation.value.of(container.name) : plainBehaviour;
  return role === "init" && behaviour.exit === undefined ? { ...behaviour, exit: { code: 0, afterMs: 0 } } : behaviour;
}
