import { stringifyYamlDocuments } from "../../kube/yaml.ts";
import { type OutputFormat, oneLine, render } from "../output.ts";
import { formatTable } from "../table.ts";
import type { RegisteredService, RegistryEvent } from "./reader.ts";

export const renderServices = (services: readonly RegisteredService[], format: OutputFormat): string =>
  render(
    {
      value: services,
      names: services.map(({ serviceName }) => serviceName),
      table: (isWide) => tableOf(services, isWide),
    },
    format,
  );

function tableOf(services: readonly RegisteredService[], isWide: boolean): string {
  if (services.length === 0) return "No services are registered.\n";
  return formatTable(
    ["NAME", "TYPE", "ADDRESS", "HEALTH", "LAST SEEN", "ID", ...(isWide ? ["SUBTYPE", "LANGUAGE"] : [])],
    services.map((service) =>
      [
        service.serviceName,
        service.serviceType ?? "-",
        addressOf(service),
        service.healthStatus ?? "-",
        service.lastSeen ?? "never",
        service.id,
        ...(isWide ? [service.serviceSubType ?? "-", service.languageName ?? "-"] : []),
      ].map(oneLine),
    ),
  );
}

/** Rows come one by one, so that columns cannot be fitted: they have widths of their own. */
export function renderEvent(
  event: RegistryEvent,
  service: RegisteredService | undefined,
  format: OutputFormat,
): string {
  if (format === "json") return `${JSON.stringify(event)}\n`;
  if (format === "yaml") return `---\n${stringifyYamlDocuments([event]).replace(/^---\n/, "")}`;
  const name = service?.serviceName ?? "-";
  if (format === "name") return `${oneLine(name)}\n`;
  const { healthStatus = "-", reason = "" } = event.serviceState ?? {};
  return eventRow([
    event.eventType,
    name,
    service?.serviceType ?? "-",
    service ? addressOf(service) : "-",
    event.id ?? "-",
    event.serviceState ? `${healthStatus} ${reason}` : "-",
  ]);
}

export const eventHeader = (): string => eventRow(["EVENT", "NAME", "TYPE", "ADDRESS", "ID", "HEALTH"]);

const eventRow = (cells: readonly string[]): string =>
  `${cells
    .map((cell, column) => oneLine(cell).padEnd(widths[column] ?? 0))
    .join("   ")
    .trimEnd()}\n`;
const widths = [10, 24, 21, 24, 36];

const addressOf = ({ host, port }: RegisteredService): string =>
  `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
