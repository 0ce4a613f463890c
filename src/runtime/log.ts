import type { Env } from "../env/env.ts";

/** Structured logging: a sentence, and fields that machines can search. Where the lines go is the caller's business. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds the fields to everything it says. */
  with(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;
export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFormat = "json" | "pretty";

export interface LogOptions {
  readonly env: Env;
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  readonly writeLine: (line: string) => void;
}

export function createLogger(options: LogOptions): Logger {
  const format = options.format === "pretty" ? prettyLine : jsonLine;
  const threshold = levels.indexOf(options.level ?? "info");
  const loggerWith = (own: LogFields): Logger => {
    const at =
      (level: LogLevel) =>
      (message: string, fields?: LogFields): void => {
        if (levels.indexOf(level) < threshold) return;
        options.writeLine(format(options.env.now(), level, message, { ...own, ...fields }));
      };
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      with: (fields) => loggerWith({ ...own, ...fields }),
    };
  };
  return loggerWith({});
}

/** Says nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLogger,
};

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

function jsonLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  const head = { time: time.toISOString(), level, message };
  // Once more behind the fields: one of them may have such a name, and must not hide what is said.
  return stringify({ ...head, ...fields, ...head });
}

function prettyLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `${name}=${typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : stringify(value)}`,
    );
  return [time.toISOString().slice(11, 23), level.toUpperCase().padEnd(5), message, ...pairs].join(" ");
}

/** Never throws, whatever it is given: a log line must not be able to break what it describes. */
function stringify(value: unknown): string {
  const open: unknown[] = [];
  const replace = function (this: unknown, _key: string, member: unknown): unknown {
    if (typeof member === "bigint") return member.toString();
    if (member instanceof Error) return errorFields(member);
    if (typeof member !== "object" || member === null) return member;
    while (open.length > 0 && open.at(-1) !== this) open.pop();
    if (open.includes(member)) return "[circular]";
    open.push(member);
    return member;
  };
  try {
    return JSON.stringify(value, replace) ?? "undefined";
  } catch (error) {
    return JSON.stringify({ unprintable: error instanceof Error ? error.message : "unknown" });
  }
}

function errorFields(error: Error): LogFields {
  return {
    name: error.name,
    message: error.message,
    ...(error.cause !== undefined && {
      cause: error.cause instanceof Error ? errorFields(error.cause) : String(error.cause),
    }),
    stack: error.stack
      ?.split("\n")
      .slice(1, 6)
      .map((line) => line.trim()),
  };
}
