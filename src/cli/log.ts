import { systemEnv } from "../env/system.ts";
import { createLogger, type LogFormat, type Logger, type LogLevel } from "../runtime/log.ts";

export const logToStandardError = (level: LogLevel, format: LogFormat): Logger =>
  createLogger({ env: systemEnv, level, format, writeLine: (line) => process.stderr.write(`${line}\n`) });
