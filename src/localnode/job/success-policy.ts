import type { Job } from "../../api/builtin/job.ts";
import { parseIndexes } from "./indexes.ts";

/** Which rule of the success policy the indexes that have succeeded fulfil; the first one counts. */
export function fulfilledRule({ spec }: Job, succeeded: ReadonlySet<number>): number | undefined {
  const found = (spec.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeeded.size === 0) return false;
    const wanted = succeededIndexes === undefined ? succeeded : parseIndexes(succeededIndexes);
    const there = [...wanted].filter((index) => succeeded.has(index)).length;
    if (succeededCount !== undefined && there >= succeededCount) return true;
    return succeededIndexes !== undefined && wanted.size > 0 && there === wanted.size;
  });
  return found < 0 ? undefined : found;
}
