import type { ServiceTarget } from "../../src/api/service-target.ts";

/** What the live services are narrowed to; empty words let everything through. */
export interface ServiceFilter {
  readonly health: string;
  readonly capability: string;
  readonly language: string;
  /** Anything in the name, the address or what it offers. */
  readonly text: string;
}

export function isWanted(
  { spec, status }: ServiceTarget,
  { health, capability, language, text }: ServiceFilter,
): boolean {
  if (health !== "" && (status?.health ?? "pending") !== health) return false;
  if (capability !== "" && spec.serviceType !== capability) return false;
  if (language !== "" && spec.languageName !== language) return false;
  if (text === "") return true;
  const all = `${spec.serviceName} ${spec.host}:${spec.port} ${capabilityOf(spec)} ${languageOf(spec)}`;
  return all.toLowerCase().includes(text.toLowerCase());
}

export const capabilityOf = ({ serviceType, serviceSubType }: ServiceTarget["spec"]): string =>
  [serviceType, serviceSubType].filter(Boolean).join(" / ");

export const languageOf = ({ languageName, languageSubType }: ServiceTarget["spec"]): string =>
  [languageName, languageSubType].filter(Boolean).join(" / ");

export const optionsOf = (words: readonly (string | undefined)[]): readonly string[] =>
  [...new Set(words.filter((word): word is string => Boolean(word)))].sort();
