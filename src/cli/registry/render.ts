import { stringifyYaml, stringifyYamlDocuments } from "../../kube/yaml.ts";
import { formatTable } from "../table.ts";
import type { RegisteredService, RegistryEvent } from "./reader.ts";

export type OutputFormat = "table" | "wide" | "json" | "yaml" | "name";
export const outputFormats: readonly OutputFormat[] = ["table", "wide", "json", "yaml", "name"];

export function renderServices(services: readonly RegisteredService[], format: OutputFormat): string {
  if (format === "json") return `${JSON.stringify(services, null, 2)}\n`;
  if (format === "yaml") return stringifyYaml(services);
  if (format === "name") return services.map(({ serviceName }) => `${clean(serviceName)}\n`).join("");
  if (services.length === 0) return "No services are registered.\n";
  const isWide = format === "wide";
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
      ].map(clean),
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
  if (format === "name") return `${clean(name)}\n`;
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
    .map((cell, column) => clean(cell).padEnd(widths[column] ?? 0))
    .join("   ")
    .trimEnd()}\n`;
const widths = [10, 24, 21, 24, 36];

const addressOf = ({ host, port }: RegisteredService): string =>
  `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;

/** A service chooses its own name; it must not choose where the cursor goes. */
const clean = (cell: string): string => cell.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
