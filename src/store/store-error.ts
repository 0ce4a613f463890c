/** Why the store could not do it. Statements that are wrong are bugs and come as plain errors. */
export type StoreErrorReason =
  /** Not reachable, or lost before the commit: nothing was written, and trying again is safe. */
  | "Unavailable"
  /** Lost while committing: it may or may not have been written. */
  | "CommitUnknown"
  /** Somebody else was faster; trying again is safe. */
  | "Conflict"
  | "DiskFull"
  | "ReadOnly"
  /** The file is damaged or is no database. */
  | "Corrupt"
  | "Closed";

export class StoreError extends Error {
  readonly reason: StoreErrorReason;

  constructor(reason: StoreErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.reason = reason;
  }
}
