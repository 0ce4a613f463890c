import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { createConnection, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { deflateSync, gzipSync } from "node:zlib";
import { systemEnv } from "../env/system.ts";
import { onlyMessage } from "./grpc-messages.ts";
import { type GrpcListener, type GrpcMethod, type GrpcServerOptions, listenGrpc } from "./grpc-server.ts";
import { GrpcError, grpcStatus } from "./grpc-status.ts";

const maxMessageBytes = 1_000;

const echo: GrpcMethod = async function* ({ messages, metadata, setHeader }) {
  const said = metadata["x-say"];
  if (said !== undefined) setHeader("x-say", said);
  yield await onlyMessage(messages);
};
const echoes: GrpcMethod = async function* ({ messages }) {
  yield* messages;
};
const never: GrpcMethod = async function* ({ signal }) {
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  yield new Uint8Array();
};
const refuses: GrpcMethod = async function* ({ setHeader, messages }) {
  setHeader("x-say", "no");
  await onlyMessage(messages);
  yield await Promise.reject(new GrpcError(grpcStatus.notFound, `\ud800 ö % ${"long ".repeat(10_000)}`));
};

async function start(context: TestContext, options: Partial<GrpcServerOptions> = {}): Promise<GrpcListener> {
  const methods = new Map<string, GrpcMethod>([
    ["/t.T/Echo", echo],
    ["/t.T/Echoes", echoes],
    ["/t.T/Never", never],
    ["/t.T/Refuses", refuses],
  ]);
  const server = await listenGrpc({ env: systemEnv, port: 0, methods, maxMessageBytes, ...options });
  context.after(() => server.close());
  return server;
}

interface Reply {
  readonly status: number;
  readonly code: number | undefined;
  readonly message: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

function open(context: TestContext, port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  context.after(() => session.destroy());
  return session;
}

/** One call; the bytes are sent as they are. */
function ask(
  session: ClientHttp2Session,
  path: string,
  bytes: Uint8Array,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      ...headers,
    });
    let begun: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    stream.on("response", (found) => {
      begun = found;
      trailers = found;
    });
    stream.on("trailers", (found) => {
      trailers = found;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", () => undefined);
    stream.on("close", () =>
      resolve({
        status: Number(begun[":status"]),
        code: trailers["grpc-status"] === undefined ? undefined : Number(trailers["grpc-status"]),
        message: decodeURIComponent(String(trailers["grpc-message"] ?? "")),
        body: Buffer.concat(chunks).toString("latin1"),
        headers: begun,
      }),
    );
    stream.end(bytes);
  });
}

const framed = (text: Uint8Array | string, flag = 0, size?: number): Buffer => {
  const body = Buffer.from(text);
  const prefix = Buffer.from([flag, 0, 0, 0, 0]);
  prefix.writeUInt32BE(size ?? body.length, 1);
  return Buffer.concat([prefix, body]);
};

/** Half a megabyte in half a kilobyte. */
const bomb = gzipSync(Buffer.alloc(500_000));

const calls: readonly (readonly [
  what: string,
  bytes: Buffer,
  headers: Record<string, string>,
  code: number,
  says: RegExp,
])[] = [
  ["a message", framed("hello"), {}, grpcStatus.ok, /^$/],
  ["an empty message", framed(""), {}, grpcStatus.ok, /^$/],
  ["gzip", framed(gzipSync("hello"), 1), { "grpc-encoding": "gzip" }, grpcStatus.ok, /^$/],
  ["deflate", framed(deflateSync("hello"), 1), { "grpc-encoding": "deflate" }, grpcStatus.ok, /^$/],
  ["an encoding that is not used", framed("hello"), { "grpc-encoding": "gzip" }, grpcStatus.ok, /^$/],
  ["an encoding that nobody knows", framed("x", 1), { "grpc-encoding": "snappy" }, 12, /snappy is not understood/],
  ["an encoding named like a method", framed("x", 1), { "grpc-encoding": "constructor" }, 12, /not understood/],
  ["compressed, and nobody says how", framed("x", 1), {}, grpcStatus.internal, /does not say how/],
  ["compressed, and it is not", framed("x", 1), { "grpc-encoding": "gzip" }, 13, /cannot be read as gzip/],
  ["a flag of another protocol", framed("x", 7), {}, grpcStatus.internal, /neither compressed nor not/],
  ["a bomb", framed(bomb, 1), { "grpc-encoding": "gzip" }, 8, /at most 1000 bytes/],
  ["too long", framed(Buffer.alloc(1_001)), {}, grpcStatus.resourceExhausted, /at most 1000 bytes/],
  ["a lie about four gigabytes", framed("x", 0, 0xffffffff), {}, grpcStatus.resourceExhausted, /at most 1000 bytes/],
  ["shorter than it says", framed("hello", 0, 6), {}, grpcStatus.invalidArgument, /cut short/],
  ["half a prefix", Buffer.from([0, 0]), {}, grpcStatus.invalidArgument, /cut short/],
  ["nothing at all", Buffer.alloc(0), {}, grpcStatus.unimplemented, /no message/],
  ["two messages where one is taken", Buffer.concat([framed("a"), framed("b")]), {}, 12, /not several/],
];
for (const [what, bytes, headers, code, says] of calls) {
  test(`${what} is answered with ${code}`, async (context) => {
    const { port } = await start(context);
    const reply = await ask(open(context, port), "/t.T/Echo", bytes, headers);
    assert.deepEqual([reply.status, reply.code], [200, code], reply.message);
    assert.match(reply.message, says);
  });
}

test("a long message in small pieces arrives whole, and several in one piece arrive one by one", async (context) => {
  const { port } = await start(context);
  const session = open(context, port);
  const stream = session.request({ ":method": "POST", ":path": "/t.T/Echoes", "content-type": "application/grpc" });
  const sent = Buffer.concat([framed("a".repeat(900)), framed("b"), framed(""), framed("c")]);
  for (let at = 0; at < 800; at += 7) stream.write(sent.subarray(at, Math.min(at + 7, 800)));
  stream.end(sent.subarray(800));
  const received = Buffer.concat(await stream.toArray());
  assert.deepEqual(received, sent);
});

test("an error before the first message comes in the headers, bounded and whole", async (context) => {
  const { port } = await start(context);
  const reply = await ask(open(context, port), "/t.T/Refuses", framed("x"));
  assert.equal(reply.headers["grpc-status"], String(grpcStatus.notFound));
  assert.equal(reply.headers["x-say"], "no");
  assert.match(reply.message, /^\ufffd ö % long /);
  assert.ok(reply.message.length <= 1_000);
});

test("what is no gRPC call is told so in HTTP", async (context) => {
  const { port } = await start(context);
  const session = open(context, port);
  assert.equal((await ask(session, "/t.T/Echo", framed("x"), { ":method": "PUT" })).status, 405);
  assert.equal((await ask(session, "/t.T/Echo", framed("x"), { "content-type": "application/json" })).status, 415);
  assert.equal((await ask(session, "/t.T/None", framed("x"))).code, grpcStatus.unimplemented);
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
  assert.equal(await answer.text(), "ok");
});

test("deadlines are kept, and one that is centuries away is none", async (context) => {
  const { port } = await start(context);
  const session = open(context, port);
  assert.equal((await ask(session, "/t.T/Never", framed("x"), { "grpc-timeout": "20m" })).code, 4);
  assert.equal((await ask(session, "/t.T/Echo", framed("x"), { "grpc-timeout": "99999999H" })).code, 0);
  assert.equal((await ask(session, "/t.T/Echo", framed("x"), { "grpc-timeout": "soon" })).code, 0);
});

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const http2Frame = (type: number, flags: number, stream: number, payload: Buffer, length = payload.length): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const settings = http2Frame(4, 0, 0, Buffer.alloc(0));
const repeated = (count: number, make: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));
/** `:method: POST` and `:path: /` from the static table: enough to open a stream. */
const shortHeaders = Buffer.from([0x83, 0x84, 0x86]);

const strangers: readonly (readonly [what: string, bytes: Buffer])[] = [
  ["nothing", Buffer.alloc(0)],
  ["half a greeting", Buffer.from("PR")],
  ["another protocol", Buffer.from("\u0016\u0003\u0001\u0000\u0000")],
  ["a greeting and noise", Buffer.concat([Buffer.from(preface), Buffer.alloc(4_096, 0xff)])],
  ["data for no stream", http2Frame(0, 0, 0, Buffer.from("x"))],
  ["data for a stream that was never opened", http2Frame(0, 1, 7, Buffer.from("x"))],
  ["headers that cannot be unpacked", http2Frame(1, 4, 1, Buffer.alloc(64, 0xff))],
  ["a frame of sixteen megabytes", http2Frame(0, 0, 1, Buffer.from("x"), 0xffffff)],
  [
    "headers that never end",
    repeated(2_000, (index) => http2Frame(index === 0 ? 1 : 9, 0, 1, Buffer.alloc(1_000, 0x40))),
  ],
  ["a window that grows by nothing", http2Frame(8, 0, 0, Buffer.alloc(4))],
  ["a window that overflows", repeated(3, () => http2Frame(8, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff])))],
  ["settings again and again", repeated(20_000, () => settings)],
  ["pings again and again", repeated(20_000, () => http2Frame(6, 0, 0, Buffer.alloc(8)))],
  [
    "streams that are opened and reset",
    repeated(5_000, (index) =>
      Buffer.concat([
        http2Frame(1, 4, index * 2 + 1, shortHeaders),
        http2Frame(3, 0, index * 2 + 1, Buffer.from([0, 0, 0, 8])),
      ]),
    ),
  ],
  ["streams that are opened and left", repeated(5_000, (index) => http2Frame(1, 4, index * 2 + 1, shortHeaders))],
];

test("whatever strangers send, others are served", { timeout: 60_000 }, async (context) => {
  const { port } = await start(context);
  const quiet: Socket[] = [];
  for (const [what, bytes] of strangers) {
    const socket = createConnection(port, "127.0.0.1");
    quiet.push(socket);
    context.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.resume();
    await once(socket, "connect");
    const isRaw = ["nothing", "half", "another", "a greeting"].some((begin) => what.startsWith(begin));
    socket.write(isRaw ? bytes : Buffer.concat([Buffer.from(preface), settings, bytes]));
    const reply = await ask(open(context, port), "/t.T/Echo", framed("still here"), { "x-say": what });
    assert.deepEqual([reply.code, reply.headers["x-say"]], [grpcStatus.ok, what]);
  }
});

test("a greeting in pieces is understood", async (context) => {
  const { port } = await start(context);
  const socket = createConnection({ port, host: "127.0.0.1", noDelay: true });
  context.after(() => socket.destroy());
  await once(socket, "connect");
  for (const letter of preface) {
    socket.write(letter);
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.write(settings);
  const [first] = (await once(socket, "data")) as [Buffer];
  assert.equal(first[3], 4, "the server's settings");
});

test("a caller has many calls at once, but not any number", { timeout: 60_000 }, async (context) => {
  const { port } = await start(context);
  const session = open(context, port);
  const waiting = Array.from({ length: 1_000 }, () => ask(session, "/t.T/Never", framed("x")));
  const more = await ask(session, "/t.T/Echo", framed("x"));
  assert.deepEqual([more.code, more.message], [14, "there are 1000 calls on this connection already"]);
  assert.equal((await ask(open(context, port), "/t.T/Echo", framed("x"))).code, 0, "another connection");
  session.destroy();
  await Promise.all(waiting);
});

test("a stop lets answers finish and does not wait for those that never end", { timeout: 30_000 }, async (context) => {
  let release: () => void = () => undefined;
  const asked = new Promise<void>((begun) => {
    context.after(() => release());
    methods.set("/t.T/Slow", async function* ({ messages }) {
      const message = await onlyMessage(messages);
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      begun();
      await released;
      yield message;
    });
  });
  const server = await start(context, { methods, drainMs: 60_000 });
  const reply = ask(open(context, server.port), "/t.T/Slow", framed("x"));
  await asked;
  const stopped = server.close();
  release();
  assert.equal((await reply).code, grpcStatus.ok);
  await stopped;

  const impatient = await start(context, { drainMs: 20 });
  const lost = ask(open(context, impatient.port), "/t.T/Never", framed("x"));
  await impatient.close();
  assert.equal((await lost).code, undefined);
});

const methods = new Map<string, GrpcMethod>();
