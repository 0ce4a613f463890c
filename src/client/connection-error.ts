/** Faults of the way to the server and of what came back, as opposed to refusals by the server (api-error.ts). */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly reason: ConnectionReason;
  /** False only when it is certain that the server never saw the request. */
  readonly mayHaveBeenApplied: boolean;

  constructor(message: string, init: ConnectionErrorInit) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.reason = init.reason;
    this.mayHaveBeenApplied = init.mayHaveBeenApplied;
  }
}

export interface ConnectionErrorInit {
  readonly reason: ConnectionReason;
  readonly mayHaveBeenApplied: boolean;
  readonly cause?: unknown;
}

export type ConnectionReason =
  /** Nobody listens there, or there is no route. */
  | "Refused"
  /** The name has no address. */
  | "NotResolved"
  /** The certificate of the server was not accepted, or ours was not. */
  | "TlsRejected"
  /** The proxy on the way said no. */
  | "ProxyRejected"
  /** No connection or no answer in time. */
  | "TimedOut"
  /** The connection broke while the request or the answer was under way. */
  | "Broken"
  /** A stream that should speak has said nothing for too long. */
  | "Silent";

/** An answer that does not say what the API promises; nothing of it was used. The content itself is never quoted. */
export class MalformedAnswerError extends Error {
  override readonly name = "MalformedAnswerError";
}

/** A request that would not mean what the caller meant; it was not sent. */
export class InvalidRequestError extends Error {
  override readonly name = "InvalidRequestError";
  readonly field: string;

  constructor(object: string, field: string, detail: string) {
    super(`${object}: ${field}: ${detail}`);
    this.field = field;
  }
}

/** A credential or certificate that could not be had: the request was not sent, and trying again at once would not help. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";
}
