/** A program that was started: a process of its own, or a thread of this one. */
export interface Launched {
  /** Its process, where it has one; undefined also when it could not be started. */
  readonly pid?: number;
  /** SIGTERM asks it to end, SIGKILL ends it. */
  signal(signal: "SIGTERM" | "SIGKILL"): void;
}

/** What its starter is told. */
export interface LaunchEvents {
  output(stream: "stdout" | "stderr", text: string): void;
  notStarted(message: string): void;
  exited(code: number | null, signal: NodeJS.Signals | null): void;
  /** After `exited`: no more output will come. */
  closed(): void;
}
