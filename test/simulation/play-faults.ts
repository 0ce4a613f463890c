import { meddle } from "./meddle.ts";
import { fillQuota, standInTheWay } from "./obstacles.ts";
import type { Plan, PlannedFault } from "./plan.ts";
import type { Stage } from "./stage.ts";
import type { Story } from "./story.ts";

export interface Moment {
  readonly atMs: number;
  run(): unknown;
}

/** A plan as moments: when something begins, and when it ends. */
export const applyPlan = (plan: Plan, stage: Stage, story: Story): readonly Moment[] =>
  plan.flatMap((fault) => momentsOf(fault, stage, story));

function momentsOf(fault: PlannedFault, stage: Stage, story: Story): readonly Moment[] {
  switch (fault.kind) {
    case "Crash":
    case "Drift":
      // Both are part of a process from its beginning.
      return [];
    case "Wire": {
      const { fault: kind, times } = fault;
      return [{ atMs: fault.atMs, run: () => stage.replica(fault.who)?.wire.faults.push({ kind, times }) }];
    }
    case "Pause":
      return during(fault, () => {
        const paused = stage.replica(fault.who);
        paused?.clock.freeze();
        return () => paused?.clock.thaw();
      });
    case "Clog":
      return during(fault, () => {
        const clogged = stage.plane;
        for (const { wire } of clogged) wire.clog();
        return () => {
          for (const { wire } of clogged) wire.release();
        };
      });
    case "ClockStep":
      return [{ atMs: fault.atMs, run: () => stage.replica(fault.who)?.clock.stepWallClock(fault.byMs) }];
    case "Stop":
      return [
        {
          atMs: fault.atMs,
          run: () => {
            const process = stage.replica(fault.who);
            if (process) stage.stop(process);
          },
        },
      ];
    case "Intruder":
      return during(fault, () => {
        const name = "plane-intruder";
        stage.startPlane(name, fault.version === "old" ? story.oldVersion : undefined);
        return () => stage.process(name)?.kill();
      });
    case "Meddle":
      return [{ atMs: fault.atMs, run: () => meddle(stage, story, fault) }];
    case "Webhook":
      return during(fault, () => standInTheWay(stage, story, fault.does));
    case "Repository":
      return during(fault, () => {
        const repository = story.outside?.(stage.api);
        if (repository) repository.deed = fault.does;
        return () => {
          if (repository) repository.deed = undefined;
        };
      });
    case "Quota":
      return during(fault, () => fillQuota(stage, story));
  }
}

/** Something that begins, and ends by what its beginning answers. */
function during(
  { atMs, forMs }: { readonly atMs: number; readonly forMs: number },
  begin: () => End | Promise<End>,
): readonly Moment[] {
  let end: End = () => undefined;
  return [
    {
      atMs,
      run: async () => {
        end = await begin();
      },
    },
    { atMs: atMs + forMs, run: () => end() },
  ];
}

type End = () => unknown;
