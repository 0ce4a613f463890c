import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { type CancelTimer, type Env, sleep } from "../env/env.ts";
import type { TlsOptions } from "./server.ts";

/** A certificate and its key on disk, where somebody replaces them before they end. */
export interface TlsFiles {
  /** PEM: the server's certificate, then those between it and an authority that clients trust. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** What a pair of files cannot be used for, in a sentence that names them. */
export class TlsFilesError extends Error {}

export async function readTlsFiles({ certFile, keyFile }: TlsFiles): Promise<TlsOptions> {
  const [cert, key] = await Promise.all([readText(certFile), readText(keyFile)]);
  try {
    // TLS takes an empty text for none at all, and then has nothing to show to anybody.
    if (cert.trim() === "" || key.trim() === "") throw new Error("a file is empty");
    createSecureContext({ cert, key });
  } catch (error) {
    throw new TlsFilesError(`${certFile} and ${keyFile} are no certificate and its key: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return { cert, key };
}

export interface FollowOptions {
  readonly env: Env;
  readonly files: TlsFiles;
  /** What is in use already. */
  readonly current: TlsOptions;
  readonly onChange: (next: TlsOptions) => void;
  /** Told once for each new problem; the certificate in use stays. */
  readonly onProblem: (problem: Error) => void;
}

/**
 * Looks at the files from time to time and hands over what is new. They are read rather than watched: a Secret's volume
 * replaces a link two folders up, which file watchers miss. A pair that does not fit yet (one file written, the other not)
 * is looked at again the next time.
 */
export function followTlsFiles(options: FollowOptions): CancelTimer {
  const { env, files, onChange, onProblem } = options;
  const stop = new AbortController();
  const follow = async (): Promise<void> => {
    let { cert, key } = options.current;
    let problem = "";
    for (;;) {
      await sleep(env, tlsFilesLookMs, stop.signal);
      try {
        const next = await readTlsFiles(files);
        if (stop.signal.aborted) return;
        problem = "";
        if (next.cert === cert && next.key === key) continue;
        ({ cert, key } = next);
        onChange(next);
      } catch (error) {
        if (messageOf(error) !== problem) onProblem(error as Error);
        problem = messageOf(error);
      }
    }
  };
  // Ends only by being stopped.
  follow().catch(() => undefined);
  return () => stop.abort();
}

/** How late a new certificate may be noticed. */
export const tlsFilesLookMs = 5_000;

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new TlsFilesError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
