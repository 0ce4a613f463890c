import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { Pod } from "../../src/api/builtin/pod.ts";
import { believedMs } from "../../src/dashboard/database-sessions.ts";
import { type ClusterWorld, pause, systemNamespace } from "./world.ts";

/** Whoever signs in at one replica is signed in at all of them, because sessions are in PostgreSQL. */
export async function dashboardStory(context: TestContext, world: ClusterWorld): Promise<void> {
  const { items } = await world.client.list(Pod, { namespace: systemNamespace, labelSelector: replicas });
  assert.ok(items.length >= 2, `${items.length} replicas`);
  const [one = "", other = ""] = await Promise.all(
    items.slice(0, 2).map(({ metadata }) => forwardTo(context, world, metadata.name)),
  );
  await world.kubectl(["create", "serviceaccount", "ann", "-n", systemNamespace]);
  const token = (await world.kubectl(["create", "token", "ann", "-n", systemNamespace])).trim();
  const answer = await ask(one, "POST", "", { token });
  assert.equal(answer.status, 200, await answer.clone().text());
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";

  await context.test("a person is known to a replica that they did not sign in to", async () => {
    const session = (await (await ask(other, "GET", cookie)).json()) as Record<string, unknown>;
    assert.equal(session["username"], `system:serviceaccount:${systemNamespace}:ann`);
  });

  await context.test("who signs out at one replica is out at the other within seconds", async () => {
    await ask(one, "DELETE", cookie);
    await pause(believedMs);
    const session = (await (await ask(other, "GET", cookie)).json()) as Record<string, unknown>;
    assert.equal(session["signedIn"], false);
  });
  await world.kubectl(["delete", "serviceaccount", "ann", "-n", systemNamespace]);
}

const replicas = "app.kubernetes.io/name=capstan,app.kubernetes.io/component=registry";

const ask = (url: string, method: string, cookie: string, body?: object): Promise<Response> =>
  fetch(`${url}/ui/api/session`, {
    method,
    headers: { "sec-fetch-site": "same-origin", "content-type": "application/json", cookie },
    ...(body && { body: JSON.stringify(body) }),
  });

/** A port of this machine that leads to one pod. */
async function forwardTo(context: TestContext, { kubeconfig }: ClusterWorld, pod: string): Promise<string> {
  const args = ["port-forward", "-n", systemNamespace, `pod/${pod}`, ":8080"];
  const forward = spawn("kubectl", args, {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.after(() => forward.kill());
  for await (const line of createInterface({ input: forward.stdout })) {
    const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  throw new Error(`no way to pod ${pod}`);
}
