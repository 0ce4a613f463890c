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
    if (error instanceof Failure) {
      process.stderr.write(`capstan: ${error.message}\n`);
      process.exitCode = error.exitCode;
      return;
    }
    reportBug(error);
  }
}

export function reportBug(error: unknown): void {
  process.stderr.write(
    `capstan: this is a bug in Capstan, please report it\n${(error as Error)?.stack ?? String(error)}\n`,
  );
  process.exitCode = 70;
}
