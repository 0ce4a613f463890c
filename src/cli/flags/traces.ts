import { type Command, InvalidArgumentError } from "commander";
import type { TraceSettings } from "../../control-plane/traces.ts";
import { setting } from "../settings.ts";

/** Where traces go. */
export interface TraceFlags {
  readonly otlpEndpoint?: string;
  readonly traceRatio: number;
}

export const withTraceFlags = (command: Command): Command =>
  command
    .addOption(
      setting(
        "--otlp-endpoint <url>",
        "send traces to this OpenTelemetry collector (OTLP over HTTP, such as http://localhost:4318); also OTEL_EXPORTER_OTLP_ENDPOINT",
      ).argParser(parseEndpoint),
    )
    .addOption(
      setting("--trace-ratio <share>", "the share of traces that is sent, from 0 to 1")
        .argParser(parseRatio)
        .default(1),
    );

export function traceSettingsOf({ otlpEndpoint, traceRatio: sampleRatio }: TraceFlags): TraceSettings | undefined {
  const endpoint = otlpEndpoint ?? process.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  return endpoint ? { endpoint: parseEndpoint(endpoint), sampleRatio } : undefined;
}

function parseEndpoint(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError("The address of a collector is a URL such as http://localhost:4318.");
  return text;
}

function parseRatio(text: string): number {
  const ratio = Number(text);
  if (!(ratio >= 0 && ratio <= 1) || text.trim() === "")
    throw new InvalidArgumentError("A share is a number from 0 to 1.");
  return ratio;
}
