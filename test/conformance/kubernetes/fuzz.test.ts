// Requests that nobody would send: no answer is a fault of ours, nothing crashes, memory stays bounded.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createApiServer } from "../../../src/apiserver/server.ts";
import { systemEnv } from "../../../src/env/system.ts";
import type { HttpHandler } from "../../../src/http/message.ts";
import { processorMsOf } from "../../processor-time.ts";
import { kindSamples, pathOf } from "./kinds.ts";

const token = "fuzz";

async function withServer(work: (send: Send) => Promise<void>): Promise<void> {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token, user: { name: "fuzz", groups: ["system:masters"] } }],
  });
  try {
    await work(sender(server.handle));
  } finally {
    await server.close();
  }
}

type Send = (
  method: string,
  target: string,
  body?: Uint8Array,
  contentType?: string,
  more?: Record<string, string>,
) => Promise<{ status: number; text: string }>;

const sender =
  (handle: HttpHandler): Send =>
  async (method, target, body, contentType = "application/json", more = {}) => {
    const abort = new AbortController();
    const headers = { authorization: `Bearer ${token}`, "content-type": contentType, ...more };
    const response = await handle({ method, target, headers, ...(body && { body }), signal: abort.signal });
    // A watch that was asked for by chance would not end by itself.
    if (response.headers["content-length"] === undefined) {
      abort.abort();
      return { status: response.status, text: "" };
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return { status: response.status, text: Buffer.concat(chunks).toString() };
  };

/** Faults that the real server also answers with 500: they are its words for a mistake of the client. */
const knownFaults = [
  /resourceVersion/,
  /strconv\.ParseUint/,
  /field not declared in schema/,
  /failed to create typed patch object/,
  /unknown patch type/,
  /\$setElementOrder|\$patch|\$retainKeys|\$deleteFromPrimitiveList|merge key|order in patch list/i,
  /failed to decode managed fields/,
];

function assertSane({ status, text }: { status: number; text: string }, what: () => string): void {
  assert.ok(status >= 200 && status < 600, what());
  if (status < 500 || status === 504) return;
  assert.ok(
    knownFaults.some((known) => known.test(text)),
    `${what()} → ${status} ${text.slice(0, 500)}`,
  );
}

const runs = Number(process.env["FUZZ_RUNS"] ?? 400);
const json = fc.jsonValue({ maxDepth: 6 });
const word = fc.constantFrom(
  "metadata",
  "spec",
  "status",
  "data",
  "name",
  "labels",
  "template",
  "containers",
  "image",
  "ports",
  "port",
  "replicas",
  "selector",
  "matchLabels",
  "rules",
  "kind",
  "apiVersion",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "uid",
  "$patch",
  "versions",
  "schema",
  "openAPIV3Schema",
  "properties",
  "type",
  "webhooks",
  "validations",
  "expression",
  "env",
  "volumes",
  "resources",
  "limits",
  "cpu",
);
const strange: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(
      null,
      true,
      -1,
      0,
      1.5,
      9e99,
      "",
      "a",
      "x".repeat(300),
      "2026-01-01T00:00:00Z",
      "500m",
      [],
      {},
    ),
    tie("list"),
    tie("map"),
  ),
  list: fc.array(tie("value"), { maxLength: 3 }),
  map: fc.dictionary(word, tie("value"), { maxKeys: 5 }),
})).value;
const sample = fc.constantFrom(...kindSamples);

describe("strange requests", () => {
  it("bodies of any JSON are answered, never with a fault", { timeout: 120_000 }, async () => {
    await withServer(async (send) => {
      await fc.assert(
        fc.asyncProperty(sample, fc.oneof(json, strange), async (kind, body) => {
          const path = pathOf(kind, "default");
          assertSane(
            await send("POST", path, Buffer.from(JSON.stringify(body) ?? "")),
            () => `POST ${path} ${JSON.stringify(body)}`,
          );
        }),
        { numRuns: runs },
      );
    });
  });

  it("valid objects with one strange field are answered, never with a fault", { timeout: 120_000 }, async () => {
    await withServer(async (send) => {
      await fc.assert(
        fc.asyncProperty(sample, word, fc.array(word, { maxLength: 3 }), strange, async (kind, top, deeper, value) => {
          const object: Record<string, unknown> = {
            apiVersion: kind.apiVersion,
            kind: kind.kind,
            metadata: { name: "f" },
            ...structuredClone(kind.body),
          };
          let holder: Record<string, unknown> = object;
          for (const step of [top, ...deeper].slice(0, -1)) {
            const next = holder[step];
            holder[step] = typeof next === "object" && next !== null ? next : {};
            holder = holder[step] as Record<string, unknown>;
          }
          holder[[top, ...deeper].at(-1) ?? top] = value;
          const path = pathOf(kind, "default");
          const body = JSON.stringify(object);
          assertSane(await send("POST", path, Buffer.from(body)), () => `POST ${path} ${body}`);
          for (const type of [
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
            "application/apply-patch+yaml",
          ]) {
            const target = `${path}/f?fieldManager=m`;
            assertSane(await send("PATCH", target, Buffer.from(body), type), () => `PATCH ${target} ${type} ${body}`);
          }
          await send("DELETE", `${path}/f`);
        }),
        { numRuns: runs },
      );
    });
  });

  it("bytes of any kind are answered, never with a fault", { timeout: 120_000 }, async () => {
    const types = [
      "application/json",
      "application/yaml",
      "application/vnd.kubernetes.protobuf",
      "application/json-patch+json",
      "application/apply-patch+yaml",
      "text/html",
      "",
    ];
    const magic = Buffer.from([0x6b, 0x38, 0x73, 0]);
    await withServer(async (send) => {
      await fc.assert(
        fc.asyncProperty(
          sample,
          fc.constantFrom("POST", "PUT", "PATCH", "DELETE"),
          fc.constantFrom(...types),
          fc.uint8Array({ maxLength: 200 }),
          fc.boolean(),
          async (kind, method, type, bytes, isMarked) => {
            const target = method === "POST" ? pathOf(kind, "default") : `${pathOf(kind, "default")}/f?fieldManager=x`;
            const body = isMarked ? Buffer.concat([magic, bytes]) : bytes;
            assertSane(
              await send(method, target, body, type),
              () => `${method} ${target} ${type} ${Buffer.from(body).toString("hex")}`,
            );
          },
        ),
        { numRuns: runs },
      );
    });
  });

  it("paths, queries and headers of any kind are answered, never with a fault", { timeout: 120_000 }, async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "api",
        "apis",
        "v1",
        "apps",
        "namespaces",
        "default",
        "configmaps",
        "pods",
        "watch",
        "status",
        "scale",
        "log",
        "openapi",
        "v3",
        "..",
        "%00",
        "%2e%2e",
        "%zz",
        "x".repeat(2000),
        "healthz",
        "*",
      ),
      fc.string({ maxLength: 12 }).map(encodeURIComponent),
    );
    const query = fc.dictionary(
      fc.constantFrom(
        "watch",
        "limit",
        "continue",
        "labelSelector",
        "fieldSelector",
        "resourceVersion",
        "resourceVersionMatch",
        "timeoutSeconds",
        "pretty",
        "dryRun",
        "fieldManager",
        "includeObject",
        "sendInitialEvents",
        "force",
      ),
      fc.string({ maxLength: 20 }),
      { maxKeys: 4 },
    );
    const accept = fc.oneof(
      fc.constantFrom(
        "application/json",
        "*/*",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=Nothing;v=v9;g=x",
        ";;;,,,",
        "application/vnd.kubernetes.protobuf",
      ),
      fc.string({ maxLength: 30 }),
    );
    await withServer(async (send) => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FOO"),
          fc.array(piece, { maxLength: 8 }),
          query,
          accept,
          async (method, pieces, parameters, accepted) => {
            const target = `/${pieces.join("/")}?${new URLSearchParams(parameters)}`;
            assertSane(
              await send(method, target, Buffer.from("{}"), "application/json", { accept: accepted }),
              () => `${method} ${target} accept: ${accepted}`,
            );
          },
        ),
        { numRuns: runs * 2 },
      );
    });
  });

  it("deep JSON and YAML are refused, quickly", async () => {
    await withServer(async (send) => {
      const path = "/api/v1/namespaces/default/configmaps";
      for (const [open, close, type] of [
        ["[", "]", "application/json"],
        ['{"a":', "}", "application/json"],
        ["[", "]", "application/yaml"],
        ["{a: ", "}", "application/yaml"],
      ] as const) {
        const body = Buffer.from(open.repeat(50_000) + (open === "[" ? "" : "1") + close.repeat(50_000));
        // The processor's time and not the clock's: the machine may be busy with other things.
        const usedMs = await processorMsOf(async () => {
          const answer = await send("POST", path, body, type);
          assert.equal(answer.status, 400, answer.text.slice(0, 200));
        });
        assert.ok(usedMs < 2000, `a deep body took ${usedMs} ms of processor time`);
      }
    });
  });

  it("YAML that unfolds is refused", async () => {
    await withServer(async (send) => {
      const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
      for (let i = 1; i < 12; i++)
        lines.push(
          `a${i}: &a${i} [${Array(9)
            .fill(`*a${i - 1}`)
            .join(", ")}]`,
        );
      const answer = await send(
        "POST",
        "/api/v1/namespaces/default/configmaps",
        Buffer.from(lines.join("\n")),
        "application/yaml",
      );
      assert.equal(answer.status, 400, answer.text.slice(0, 200));
    });
  });

  it("selectors take time in proportion to their length", async () => {
    await withServer(async (send) => {
      const timed = async (terms: number): Promise<number> => {
        const selector = Array.from({ length: terms }, (_, i) => `k${i} in (a,b,c)`).join(",");
        return processorMsOf(async () => {
          for (let i = 0; i < 5; i++)
            await send("GET", `/api/v1/configmaps?labelSelector=${encodeURIComponent(selector)}`);
        });
      };
      await timed(500);
      const [one, two] = [await timed(2000), await timed(4000)];
      assert.ok(two < one * 4 + 50, `${one.toFixed(1)} ms for 2000 terms, ${two.toFixed(1)} ms for 4000`);
    });
  });

  it("memory stays bounded under many refused requests", { timeout: 120_000 }, async () => {
    await withServer(async (send) => {
      const body = Buffer.from(JSON.stringify({ metadata: { name: "X" }, data: { a: "x".repeat(10_000) } }));
      const round = async (): Promise<number> => {
        for (let i = 0; i < 300; i++) await send("POST", "/api/v1/namespaces/default/configmaps", body);
        return process.memoryUsage().heapUsed + process.memoryUsage().external;
      };
      await round();
      const before = await round();
      for (let i = 0; i < 5; i++) await round();
      const after = await round();
      assert.ok(after - before < 60 * 1024 * 1024, `grew by ${((after - before) / 1e6).toFixed(1)} MB`);
    });
  });
});
