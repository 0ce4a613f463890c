// The process that the durability tests kill. It serves and writes through the whole pipeline,
// and says on its output what was acknowledged, a line for each write, as soon as it was.
import { writeSync } from "node:fs";
import { createApiServer } from "../../../../src/apiserver/server.ts";
import { systemEnv } from "../../../../src/env/system.ts";

const [file = "", prefix = "", writersText = "16"] = process.argv.slice(2);
const token = "crash";
const server = await createApiServer({
  env: systemEnv,
  file,
  history: { maxChanges: 200 },
  tokens: [{ token, user: { name: "crash", groups: ["system:masters"] } }],
});

const send = async (method: string, target: string, body?: object): Promise<{ status: number; json: Answer }> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const payload = body && { body: Buffer.from(JSON.stringify(body)) };
  const response = await server.handle({ method, target, headers, ...payload });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, json: JSON.parse(Buffer.concat(chunks).toString()) as Answer };
};
interface Answer {
  readonly metadata: { readonly resourceVersion?: string };
}

const path = "/api/v1/namespaces/default/configmaps";
const say = (line: object): void => {
  writeSync(1, `${JSON.stringify(line)}\n`);
};

/** Each writer makes, changes and sometimes removes objects of its own, one after the other. */
async function write(writer: number): Promise<void> {
  for (let round = 0; ; round++) {
    const name = `${prefix}-${writer}-${round}`;
    const filler = "x".repeat(100 + ((writer * 7919 + round * 104729) % 3000));
    const object = (value: string) => ({ metadata: { name }, data: { value, filler } });
    const created = await send("POST", path, object("1"));
    if (created.status !== 201) throw new Error(`create ${name}: ${created.status}`);
    say({ name, value: "1", version: created.json.metadata.resourceVersion });
    const updated = await send("PUT", `${path}/${name}`, object("2"));
    say({ name, value: "2", version: updated.json.metadata.resourceVersion });
    if (round % 3 === 0) {
      await send("DELETE", `${path}/${name}`);
      say({ name, value: null });
    }
  }
}

await Promise.all(Array.from({ length: Number(writersText) }, (_, writer) => write(writer)));
