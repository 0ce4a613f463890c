/** Durations as Go writes them, the form that all upstream manifests use. */
import { type Field, string } from "../kube/schema/build.ts";

const goDurationPattern = "^[+-]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";

export const goDuration = (description: string): Field<string> =>
  string({
    description: `${description} A duration such as 90s, 15m or 168h.`,
    pattern: goDurationPattern,
    maxLength: 64,
  });
