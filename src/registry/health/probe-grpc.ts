import { type ClientHttp2Session, connect } from "node:http2";
import type { ServiceHealth } from "../model/service.ts";
import { type Approach, maxProbeBytes } from "./probe.ts";

/**
 * Asks `grpc.health.v1.Health`, and where that is not offered Wanaku's own `HealthProbe`. Both messages have one field,
 * so they are written and read by hand.
 */
export async function probeGrpc(approach: Approach): Promise<ServiceHealth> {
  const standard = await ask(approach, "/grpc.health.v1.Health/Check", new Uint8Array(0));
  if (standard.status !== unimplemented) return healthOf(standard, servingStatus);
  const own = await ask(approach, "/ai.wanaku.health.v1.HealthProbe/GetStatus", textField(1, approach.target.id));
  return healthOf(own, startedStatus);
}

interface GrpcAnswer {
  /** gRPC's status code. */
  readonly status: number;
  /** The first field of the message. */
  readonly value: number;
}

const ok = 0;
const failedPrecondition = 9;
const unimplemented = 12;
const unavailable = 14;
const servingStatus = 1;
const startedStatus = 4;

function healthOf({ status, value }: GrpcAnswer, good: number): ServiceHealth {
  if (status === ok) return value === good ? "HEALTHY" : "UNHEALTHY";
  return status === failedPrecondition ? "PENDING" : "DOWN";
}

function ask({ address, target, settings }: Approach, path: string, message: Uint8Array): Promise<GrpcAnswer> {
  const host = address.includes(":") ? `[${address}]` : address;
  return new Promise((resolve) => {
    let session: ClientHttp2Session | undefined;
    const end = (answer: GrpcAnswer): void => {
      session?.destroy();
      resolve(answer);
    };
    const failed = (): void => end({ status: unavailable, value: 0 });
    session = connect(`http://${host}:${target.port}`, { settings: { enablePush: false } });
    session.once("error", failed);
    session.once("close", failed);
    const signal = AbortSignal.timeout(settings.timeoutMs);
    const stream = session.request(
      {
        ":method": "POST",
        ":path": path,
        ":authority": `${target.host}:${target.port}`,
        "content-type": "application/grpc",
        te: "trailers",
      },
      { signal },
    );
    let status: number | undefined;
    let bytes = Buffer.alloc(0);
    const takeStatus = (headers: Record<string, unknown>): void => {
      if (headers["grpc-status"] !== undefined) status = Number(headers["grpc-status"]);
      else if (headers[":status"] !== undefined && headers[":status"] !== 200) status = unimplemented;
    };
    stream.on("response", takeStatus);
    stream.on("trailers", takeStatus);
    stream.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length > maxProbeBytes) failed();
    });
    stream.once("error", failed);
    stream.once("end", () => end({ status: status ?? unavailable, value: firstVarint(bytes.subarray(5)) }));
    stream.end(framed(message));
  });
}

/** Not compressed, and its length in four bytes. */
function framed(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(5 + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, 5);
  return frame;
}

function textField(field: number, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  return bytes.length < 128 ? new Uint8Array([(field << 3) | 2, bytes.length, ...bytes]) : new Uint8Array(0);
}

/** The value of field 1 when it is a small number; an absent field is zero. */
const firstVarint = (bytes: Uint8Array): number => (bytes[0] === 0x08 ? (bytes[1] ?? 0) & 0x7f : 0);
