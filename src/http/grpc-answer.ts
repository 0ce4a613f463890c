import type { ServerHttp2Stream } from "node:http2";
import { acceptedEncodings, frame } from "./grpc-messages.ts";
import { type GrpcError, grpcStatus } from "./grpc-status.ts";

/** Headers, messages, trailers: each once and in this order, whatever happens. */
export class GrpcAnswer {
  readonly #stream: ServerHttp2Stream;
  readonly #headers: Record<string, string> = {};
  #begun = false;
  #ended = false;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** Resolves when there is room for more: what a slow caller has not read yet is not piled up. */
  async send(message: Uint8Array): Promise<void> {
    if (this.#ended || this.#isGone) return;
    if (!this.#begun) this.#stream.respond(this.#opening(), { waitForTrailers: true });
    this.#begun = true;
    if (this.#stream.write(frame(message))) return;
    await new Promise<void>((resolve) => {
      this.#stream.once("drain", resolve);
      this.#stream.once("close", resolve);
    });
  }

  /** A call that ends before its first message has only trailers, which then are its headers. */
  end(error: GrpcError | undefined): void {
    if (this.#ended || this.#isGone) return;
    this.#ended = true;
    const ending = endingOf(error);
    if (this.#begun) {
      this.#stream.once("wantTrailers", () => {
        if (this.#isGone) return;
        this.#stream.sendTrailers(ending);
        this.#stopReading();
      });
      this.#stream.end();
    } else {
      this.#stream.respond({ ...this.#opening(), ...ending }, { endStream: true });
      this.#stopReading();
    }
  }

  /** Nobody reads what is still on its way here; the caller can stop sending it. */
  #stopReading(): void {
    if (!this.#stream.readableEnded) this.#stream.close();
  }

  /** Reset by the caller, or torn down: writing to it would throw. */
  get #isGone(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  #opening(): Record<string, string | number> {
    return {
      ...this.#headers,
      ":status": 200,
      "content-type": "application/grpc+proto",
      "grpc-accept-encoding": acceptedEncodings,
    };
  }
}

/** Callers limit the size of headers, so a sentence is cut that would not pass. */
const maxSentence = 1_000;

function endingOf(error: GrpcError | undefined): Readonly<Record<string, string>> {
  if (error === undefined) return { "grpc-status": String(grpcStatus.ok) };
  const sentence = error.message.slice(0, maxSentence).toWellFormed();
  return { "grpc-status": String(error.code), "grpc-message": encodeURIComponent(sentence) };
}
