import type { ServiceHealth } from "../../api/service-target.ts";

/** The registry's vocabulary (spec/service-registration.md, "Core Data Types"), free of any wire dialect. */
export interface ServiceTarget {
  readonly id: string;
  readonly serviceName: string;
  readonly host: string;
  readonly port: number;
  /** One of the four that the specification names; others are kept as they are. */
  readonly serviceType: string | null;
  readonly serviceSubType: string | null;
  readonly languageName: string | null;
  readonly languageType: string | null;
  readonly languageSubType: string | null;
}

/** What a service says of itself; the registry gives the id when it brings none. */
export type NewServiceTarget = Omit<ServiceTarget, "id"> & { readonly id: string | null };

/** A snapshot of health at one time. The time is what the reporter said; nothing is ever computed from it. */
export interface ServiceState {
  readonly timestamp: string;
  readonly health: ServiceHealth;
  readonly reason: string;
}

export type { ServiceHealth } from "../../api/service-target.ts";

export const multiCapability = "multi-capability";
export const toolInvoker = "tool-invoker";
export const resourceProvider = "resource-provider";
export const codeExecutionEngine = "code-execution-engine";

export const serviceTypes: readonly string[] = [resourceProvider, toolInvoker, multiCapability, codeExecutionEngine];
export const isServiceType = (text: string): boolean => serviceTypes.includes(text);

/** The texts that clients of the original system know. */
export const stateReasons = {
  healthy: "healthy",
  pending: "pending health check",
  missing: "missing in action",
  inactive: "inactive due to service auto-deregistration",
  probedUnhealthy: "health probe reported unhealthy",
  probedDown: "health probe reported down",
} as const;

/** `host:port`, as the specification's `toAddress`; IPv6 addresses need brackets before a port. */
export const addressOf = ({ host, port }: Pick<ServiceTarget, "host" | "port">): string =>
  `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
