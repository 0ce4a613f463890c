import { createHash } from "node:crypto";
import type { HttpHandler, HttpResponse } from "../../http/message.ts";
import { defaultBaseUrls } from "./base-urls.ts";
import { imageRepository } from "./docker-hub.ts";
import { zip } from "./zip-writing.ts";

/**
 * What Hangar, PaperMC and Docker Hub answer in the demo, from inside the package, so that it needs no network. Questions
 * about anything else go on to where they are meant for; a base URL that somebody chose is never stood in for.
 */
export function withDemoRepositories(outside: HttpHandler): HttpHandler {
  const answers = demoAnswers();
  return async (request) => {
    const answer = request.method === "GET" ? answers.get(request.target.split("?", 1)[0] ?? "") : undefined;
    return answer === undefined ? outside(request) : respond(answer, request.headers["if-none-match"]);
  };
}

/** The jars alone, for the pods that install them. The name of their host is reserved and leads nowhere else. */
export function withDemoJars(outside: HttpHandler): HttpHandler {
  const demo = withDemoRepositories(outside);
  return (request) => (request.target.startsWith(jarsUrl) ? demo(request) : outside(request));
}

const jarsUrl = "https://demo.capstan.invalid/jars";
const releasedAt = "2025-01-01T00:00:00.000Z";

/** Paper's versions with one settled build each; every one has an image. */
const paperBuilds: Readonly<Record<string, number>> = {
  "1.21.4": 232,
  "1.21.1": 133,
  "1.20.6": 151,
  "1.20.4": 499,
};

/** Projects, their versions, newest first, and what each runs on. */
const projects: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "capstan-demo-homes": {
    "2.21.0": ["1.20.4", "1.20.6", "1.21.1", "1.21.4"],
    "2.20.1": ["1.20.4", "1.20.6"],
  },
  "capstan-demo-market": {
    "1.5.0": ["1.20.4", "1.20.6"],
    "1.4.2": ["1.20.4"],
  },
};

function demoAnswers(): ReadonlyMap<string, Uint8Array> {
  const answers = new Map<string, Uint8Array>();
  const record = (url: string, value: unknown): void => void answers.set(url, Buffer.from(JSON.stringify(value)));
  const { hangar, paper, dockerHub } = defaultBaseUrls;
  record(`${paper}/v3/projects/paper`, {
    project: { id: "paper", name: "Paper" },
    versions: Object.groupBy(Object.keys(paperBuilds), (version) => version.split(".").slice(0, 2).join(".")),
  });
  for (const [version, id] of Object.entries(paperBuilds))
    record(`${paper}/v3/projects/paper/versions/${version}/builds`, [{ id, time: releasedAt, channel: "STABLE" }]);
  const tags = Object.entries(paperBuilds).map(([version, build]) => ({ name: `${version}-${build}` }));
  record(`${dockerHub}/repositories/${imageRepository}/tags`, { count: tags.length, next: null, results: tags });
  for (const [slug, versions] of Object.entries(projects)) {
    record(`${hangar}/projects/${slug}`, { name: slug, namespace: { owner: "capstan", slug } });
    const result = Object.entries(versions).map(([version, minecraft]) => {
      const file = `${slug}-${version}.jar`;
      const jar = demoJar(slug, version);
      answers.set(`${jarsUrl}/${file}`, jar);
      return releaseOf(version, minecraft, file, jar);
    });
    const pagination = { count: result.length, limit: result.length, offset: 0 };
    record(`${hangar}/projects/capstan/${slug}/versions`, { pagination, result });
  }
  return answers;
}

/** A version in Hangar's own shape. */
function releaseOf(name: string, minecraft: readonly string[], file: string, jar: Uint8Array): unknown {
  const sha256Hash = createHash("sha256").update(jar).digest("hex");
  const download = {
    fileInfo: { name: file, sizeBytes: jar.length, sha256Hash },
    externalUrl: null,
    downloadUrl: `${jarsUrl}/${file}`,
  };
  return {
    name,
    createdAt: releasedAt,
    visibility: "public",
    channel: { name: "Release", flags: [] },
    downloads: { PAPER: download },
    pluginDependencies: { PAPER: [] },
    platformDependencies: { PAPER: minecraft },
  };
}

/** A jar that says what it is and does nothing. */
const demoJar = (name: string, version: string): Uint8Array =>
  zip({ "plugin.yml": `name: ${name}\nversion: "${version}"\napi-version: "1.20"\n` });

function respond(body: Uint8Array, known: string | undefined): HttpResponse {
  const etag = `"${createHash("sha256").update(body).digest("hex")}"`;
  if (known === etag) return { status: 304, headers: { etag }, body: chunks() };
  return { status: 200, headers: { etag, "content-length": String(body.length) }, body: chunks(body) };
}

async function* chunks(...parts: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* parts;
}
