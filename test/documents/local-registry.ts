import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A registry for container images that holds what is pushed to it in memory; enough of the protocol for one push and one pull. */
export interface LocalRegistry {
  /** `127.0.0.1:41234` */
  readonly host: string;
}

export async function startLocalRegistry(context: TestContext): Promise<LocalRegistry> {
  const blobs = new Map<string, Buffer>();
  const manifests = new Map<string, { readonly type: string; readonly body: Buffer }>();
  const server = createServer(async (request, response) => {
    const { method = "", url = "" } = request;
    const { pathname, searchParams } = new URL(url, "http://registry.invalid");
    const body = await bodyOf(request);
    const [, part = "", last = ""] = /\/(blobs\/uploads|blobs|manifests)\/([^/]*)$/.exec(pathname) ?? [];
    const answer = (status: number, headers: Record<string, string> = {}, content?: Buffer): void => {
      response.writeHead(status, { "content-length": String(content?.length ?? 0), ...headers });
      response.end(method === "HEAD" ? undefined : content);
    };
    if (pathname === "/v2/") return answer(200);
    if (part === "blobs/uploads" && method === "POST") return answer(202, { location: `${pathname}1` });
    if (part === "blobs/uploads") {
      // The parts of one upload come one after the other; its digest says what they are together.
      const whole = Buffer.concat([blobs.get(pathname) ?? Buffer.alloc(0), body]);
      const digest = searchParams.get("digest");
      blobs.set(digest ?? pathname, whole);
      if (digest !== null) blobs.delete(pathname);
      const range = { range: `0-${Math.max(0, whole.length - 1)}` };
      if (digest === null) return answer(202, { location: pathname, ...range });
      return answer(digestOf(whole) === digest ? 201 : 400, { "docker-content-digest": digest });
    }
    if (part === "manifests" && method === "PUT") {
      const kept = { type: request.headers["content-type"] ?? "", body };
      manifests.set(last, kept).set(digestOf(body), kept);
      return answer(201, { "docker-content-digest": digestOf(body) });
    }
    const manifest = part === "manifests" ? manifests.get(last) : undefined;
    if (manifest) {
      const headers = { "content-type": manifest.type, "docker-content-digest": digestOf(manifest.body) };
      return answer(200, { ...headers, "content-length": String(manifest.body.length) }, manifest.body);
    }
    const blob = part === "blobs" ? blobs.get(last) : undefined;
    if (blob) return answer(200, { "content-length": String(blob.length) }, blob);
    if (pathname.endsWith("/tags/list")) {
      const tags = [...manifests.keys()].filter((name) => !name.startsWith("sha256:"));
      return answer(
        200,
        { "content-type": "application/json" },
        Buffer.from(JSON.stringify({ name: "capstan", tags })),
      );
    }
    answer(404);
  });
  context.after(() => server.close());
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
