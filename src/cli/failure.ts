import { ApiError } from "../client/api-error.ts";
import { ConnectionError, CredentialError } from "../client/connection-error.ts";

/** Something that the person at the terminal can mend: said in one line, without a stack. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs a command's work; an expected failure becomes a message and an exit code, a bug keeps its stack. */
export async function failClearly(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) return reportBug(error);
    process.stderr.write(`capstan: ${failure.message}\n`);
    process.exitCode = failure.exitCode;
  }
}

/** A server that is not there or says no is nobody's bug; everything else that was not expected is ours. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  if (error instanceof ConnectionError)
    return new Failure(`${error.message}; does it run? \`capstan doctor\` looks at the way there`);
  if (error instanceof CredentialError || error instanceof ApiError) return new Failure(error.message);
  return undefined;
}

export function reportBug(error: unknown): void {
  process.stderr.write(
    `capstan: this is a bug in Capstan, please report it\n${(error as Error)?.stack ?? String(error)}\n`,
  );
  process.exitCode = 70;
}
