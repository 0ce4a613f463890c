/**
 * Where sessions are kept: each by a secret that only the browser has. What is kept is the credential that the API
 * accepts, so that nobody else may learn it from where it is kept.
 */
export interface KeptSessions {
  put(secret: string, credential: string, lifetimeMs: number): Promise<void>;
  /** Nothing when there is none, or it is over. */
  find(secret: string): Promise<string | undefined>;
  end(secret: string): Promise<void>;
}

/** More than people have open; the oldest makes room. */
export const maxSessions = 1_000;
