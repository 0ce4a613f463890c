import { InvalidArgumentError, Option } from "commander";
import { parseDurationMs } from "../kube/duration.ts";

/**
 * A flag that is also an environment variable: `--http-port` is `CAPSTAN_HTTP_PORT`. Flags win; help shows both and the
 * default.
 */
export function setting(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.env(`CAPSTAN_${option.name().toUpperCase().replaceAll("-", "_")}`);
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535 || text.trim() === "") {
    throw new InvalidArgumentError("A port is a whole number from 0 (any free one) to 65535.");
  }
  return port;
}

export function parseDurationFlag(text: string): number {
  const read = parseDurationMs(text);
  if (!read.ok || read.value < 1) throw new InvalidArgumentError("A duration such as 90s, 15m or 1h30m.");
  return read.value;
}
