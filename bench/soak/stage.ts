// What the activities act on: the demo's API, its registry, and its dashboard as somebody who has signed in.
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";
import { discoveryService } from "../../src/registry/client/discovery-service.ts";
import type { Stage } from "./activity.ts";
import type { Demo } from "./demo.ts";

/** Whoever looks at the dashboard looks for that long. */
export async function openStage(
  demo: Demo,
  lookMs: number,
): Promise<{ readonly stage: Stage; close(): Promise<void> }> {
  const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [demo.kubeconfig] });
  const cookie = await signIn(demo);
  const stage: Stage = {
    client,
    registry: discoveryService({ url: demo.http, fetch, requestTimeoutMs }),
    look: (signal) => readFeeds(demo, cookie, AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(lookMs))])),
  };
  return { stage, close };
}

const feeds = [
  "/apis/game.platform/v1alpha1/worldinstances",
  "/apis/game.platform/v1alpha1/capabilitybindings",
  "/apis/kubernetesexecution.kubernaut.io/v1alpha1/kubernetesexecutions",
  "/apis/oaas.io/v1alpha1/classruntimes",
  "table:/api/v1/pods",
  "/api/v1/events",
];
/** Long: on a machine that is busy with other things a full collection alone takes seconds. */
const requestTimeoutMs = 60_000;

async function signIn({ signInLink }: Demo): Promise<string> {
  const { status, headers } = await fetch(signInLink, { redirect: "manual" });
  const cookie = headers.get("set-cookie")?.split(";")[0];
  if (!cookie) throw new Error(`signing in was answered with ${status}`);
  return cookie;
}

async function readFeeds({ http }: Demo, cookie: string, signal: AbortSignal): Promise<void> {
  const query = feeds.map((feed) => `feed=${encodeURIComponent(feed)}`).join("&");
  try {
    const { status, body } = await fetch(`${http}/ui/api/live?${query}`, { headers: { cookie }, signal });
    if (status !== 200 || !body) throw new Error(`the live feed was answered with ${status}`);
    for await (const _ of body);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
