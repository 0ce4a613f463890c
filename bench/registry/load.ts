// A load generator on bare sockets: keep-alive, one request at a time on each connection.
import { connect, type Socket } from "node:net";

export interface LoadResult {
  readonly operations: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bytesPerAnswer: number;
}

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly durationMs: number;
  /** The whole request as text. */
  readonly request: (turn: number) => string;
}

export async function load({ url, connections, durationMs, request }: LoadOptions): Promise<LoadResult> {
  const { hostname, port } = new URL(url);
  const until = performance.now() + durationMs;
  const times: number[] = [];
  let turn = 0;
  let bytes = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const wire = await open(hostname, Number(port));
      while (performance.now() < until) {
        const sentAt = performance.now();
        const answer = await wire.exchange(request(turn++));
        times.push(performance.now() - sentAt);
        bytes += answer.bytes;
        if (answer.status !== 200)
          throw new Error(`the server answered ${answer.status}: ${answer.text.slice(0, 300)}`);
      }
      wire.close();
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  times.sort((a, b) => a - b);
  return {
    operations: times.length,
    seconds,
    perSecond: times.length / seconds,
    p50Ms: times[times.length >> 1] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
    bytesPerAnswer: bytes / times.length,
  };
}

interface Wire {
  exchange(request: string): Promise<{ readonly status: number; readonly bytes: number; readonly text: string }>;
  close(): void;
}

async function open(host: string, port: number): Promise<Wire> {
  const socket: Socket = connect({ host, port, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  let buffer = "";
  let deliver: ((text: string) => void) | undefined;
  socket.setEncoding("latin1");
  socket.on("error", () => deliver?.(""));
  socket.on("close", () => deliver?.(""));
  socket.on("data", (chunk: string) => {
    buffer += chunk;
    const end = endOf(buffer);
    if (end === undefined) return;
    const text = buffer.slice(0, end);
    buffer = buffer.slice(end);
    deliver?.(text);
  });
  return {
    async exchange(request) {
      const answered = new Promise<string>((resolve) => {
        deliver = resolve;
      });
      socket.write(request);
      const text = await answered;
      return { status: Number(text.slice(9, 12)), bytes: text.length - text.indexOf("\r\n\r\n") - 4, text };
    },
    close: () => socket.destroy(),
  };
}

/** Where the answer ends: by its length, or by the last chunk. */
function endOf(text: string): number | undefined {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  if (length !== undefined) return text.length >= head + 4 + Number(length) ? head + 4 + Number(length) : undefined;
  const last = text.indexOf("0\r\n\r\n", head);
  return last < 0 ? undefined : last + 5;
}

export const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
export const post = (path: string, body: string, method = "POST"): string =>
  `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
