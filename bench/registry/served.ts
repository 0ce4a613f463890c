// What the benchmark tells its server to be, and what it then finds there.
export interface ServerSettings {
  readonly kind: "registry" | "listener" | "floor";
  /** Services that are there from the beginning, ten to a name. */
  readonly entries: number;
  /** Whether changes go to disk. */
  readonly isDurable: boolean;
  /** For the floor and the listener: how much to answer. */
  readonly answerBytes?: number;
}

/** The id of one of the services that are there from the beginning. */
export const servedId = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
