import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DeploymentUnit, DeployResponse } from "./messages.ts";
import { decode, encode, type Message, ProtobufError } from "./protobuf.ts";

test("bytes are those of the format", () => {
  // Field 1 varint 3, field 2 "cart", field 3 "ok": written by hand from the encoding's description.
  assert.deepEqual(
    [...encode(DeployResponse, { status: 3, deployment_id: "cart", message: "ok" })],
    [0x08, 3, 0x12, 4, 0x63, 0x61, 0x72, 0x74, 0x1a, 2, 0x6f, 0x6b],
  );
  const numbers: Message = {
    a: { number: 1, type: "int32" },
    b: { number: 16, type: "double" },
    c: { number: 3, type: "uint64", repeated: true },
  };
  assert.deepEqual([...encode(numbers, { a: -1 })], [0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
  assert.deepEqual([...encode(numbers, { b: 1 })], [0x81, 0x01, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
  assert.deepEqual(
    decode(numbers, Uint8Array.from([0x1a, 3, 1, 0xac, 2, 0x18, 7])),
    { c: [1, 300, 7] },
    "packed and not",
  );
});

test("whatever is written is read again", () => {
  const text = fc.string({ unit: "grapheme" });
  const count = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  const unit = fc.record({
    id: text,
    functions: fc.array(
      fc.record({
        function_key: text,
        provision_config: fc.record({ container_image: text, port: count, need_http2: fc.boolean() }),
        config: fc.dictionary(text, text),
      }),
      { minLength: 1 },
    ),
    odgm_config: fc.record({
      collections: fc.array(text, { minLength: 1 }),
      env_node_ids: fc.dictionary(text, fc.record({ ids: fc.array(count, { minLength: 1 }) }), { minKeys: 1 }),
    }),
    telemetry: fc.record({ sampling_rate: fc.double({ noNaN: true }) }),
  });
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  fc.assert(
    fc.property(unit, (value) => {
      const read = plain(decode(DeploymentUnit, encode(DeploymentUnit, value))) as { functions: { config?: object }[] };
      for (const item of read.functions) item.config ??= {};
      assert.deepEqual(read, plain(value));
    }),
  );
});

test("fields that are not known are skipped, and any bytes are read or refused", () => {
  assert.deepEqual(decode(DeployResponse, Uint8Array.from([0x50, 1, 0x5a, 1, 0, 0x08, 2])), { status: 2 });
  assert.throws(() => decode(DeployResponse, Uint8Array.from([0x12, 200])), ProtobufError);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        decode(DeploymentUnit, bytes);
      } catch (error) {
        // A TypeError is what the platform says about text that is not UTF-8.
        assert.ok(
          error instanceof ProtobufError || (error instanceof TypeError && error.message.includes("utf-8")),
          String(error),
        );
      }
    }),
    { numRuns: 2_000 },
  );
});
