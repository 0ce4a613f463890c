import { parseDurationMs } from "../../kube/duration.ts";

/** Reads settings from environment variables; what cannot be read is remembered as a problem, with what would be accepted. */
export type Variables = Readonly<Record<string, string | undefined>>;

export interface VariableReader {
  readonly problems: readonly string[];
  text(name: string): string | undefined;
  flag(name: string, otherwise: boolean): boolean;
  whole(name: string, otherwise: number): number;
  /** From 0 to 1. */
  share(name: string): number | undefined;
  /** Milliseconds, from plain seconds as upstream writes them or from a Go duration. */
  seconds(name: string, otherwiseMs: number): number;
  oneOf<T extends string>(name: string, accepted: readonly T[]): T | undefined;
  url(name: string): string | undefined;
  /** `A=1,B=2` */
  pairs(name: string): Readonly<Record<string, string>>;
  /** A value that can be read but not honoured. */
  refuse(name: string, why: string): void;
}

export function createVariableReader(variables: Variables): VariableReader {
  const problems: string[] = [];
  const wrong = (name: string, value: string, expected: string): void => {
    problems.push(`${name} is ${JSON.stringify(value)}; ${expected} is expected`);
  };
  const text = (name: string): string | undefined => {
    const value = variables[name]?.trim();
    return value === "" ? undefined : value;
  };
  const whole = (name: string, otherwise: number): number => {
    const value = text(name);
    if (value === undefined) return otherwise;
    if (/^\d{1,9}$/.test(value)) return Number(value);
    wrong(name, value, "a whole number");
    return otherwise;
  };
  return {
    problems,
    text,
    whole,
    share(name) {
      const value = text(name);
      if (value === undefined) return undefined;
      const share = Number(value);
      if (share >= 0 && share <= 1) return share;
      wrong(name, value, "a number from 0 to 1");
      return undefined;
    },
    refuse(name, why) {
      problems.push(`${name}: ${why}`);
    },
    flag(name, otherwise) {
      const value = text(name)?.toLowerCase();
      if (value === undefined) return otherwise;
      if (["true", "1", "yes", "on"].includes(value)) return true;
      if (["false", "0", "no", "off"].includes(value)) return false;
      wrong(name, value, "true or false");
      return otherwise;
    },
    seconds(name, otherwiseMs) {
      const value = text(name);
      if (value === undefined) return otherwiseMs;
      if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
      const duration = parseDurationMs(value);
      if (duration.ok && duration.value >= 0) return duration.value;
      wrong(name, value, "a number of seconds or a duration such as 90s");
      return otherwiseMs;
    },
    oneOf(name, accepted) {
      const value = text(name);
      const found = accepted.find((candidate) => candidate === value);
      if (value !== undefined && found === undefined) wrong(name, value, `one of ${accepted.join(", ")}`);
      return found;
    },
    url(name) {
      const value = text(name);
      if (value === undefined || isHttpUrl(value)) return value;
      wrong(name, value, "a URL that begins with http:// or https://");
      return undefined;
    },
    pairs(name) {
      const entries: [string, string][] = [];
      for (const part of (text(name) ?? "").split(",")) {
        if (part.trim() === "") continue;
        const at = part.indexOf("=");
        if (at > 0) entries.push([part.slice(0, at).trim(), part.slice(at + 1)]);
        else problems.push(`${name} has ${JSON.stringify(part)}; NAME=VALUE is expected`);
      }
      return Object.fromEntries(entries);
    },
  };
}

export const isHttpUrl = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text);
