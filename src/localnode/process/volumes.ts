import { chmod, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import type { Pod } from "../../api/builtin/pod.ts";
import type { Container } from "../../api/builtin/pod-spec.ts";
import type { Client } from "../../client/client.ts";
import { claimFolder } from "./claim-folder.ts";
import { type ConfigKind, type ConfigSource, NotStartable } from "./config-source.ts";
import { downwardField } from "./downward.ts";
import type { MountedPath } from "./mount-paths.ts";
import type { Places } from "./places.ts";

export interface VolumeRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly places: Places;
  readonly source: ConfigSource;
  readonly client: Client;
  readonly addresses: { readonly host: string; readonly pod: string };
  readonly signal: AbortSignal;
}

export interface PreparedVolumes {
  readonly mounts: readonly MountedPath[];
  /** When the first token in them has to be replaced. */
  readonly renewInMs?: number;
}

/** Writes the files of the volumes that a container mounts, and tells where they are. */
export async function prepareVolumes(request: VolumeRequest): Promise<PreparedVolumes> {
  const { pod, container } = request;
  const mounts: MountedPath[] = [];
  const renewals: number[] = [];
  for (const { name, mountPath, subPath } of container.volumeMounts ?? []) {
    const volume = pod.spec.volumes?.find((one) => one.name === name) as Volume | undefined;
    if (volume === undefined) throw cannotMount(name, "it is not among the pod's volumes");
    const made = await prepare(volume, request);
    if (made.renewInMs !== undefined) renewals.push(made.renewInMs);
    mounts.push({ inside: mountPath, outside: subPath ? within(made.folder, subPath, name) : made.folder });
  }
  return { mounts, ...(renewals.length > 0 && { renewInMs: Math.min(...renewals) }) };
}

interface FileItem {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}
interface ProjectedSource {
  readonly configMap?: { readonly name?: string; readonly items?: readonly FileItem[]; readonly optional?: boolean };
  readonly secret?: { readonly name?: string; readonly items?: readonly FileItem[]; readonly optional?: boolean };
  readonly serviceAccountToken?: {
    readonly audience?: string;
    readonly expirationSeconds?: number;
    readonly path: string;
  };
  readonly downwardAPI?: { readonly items?: readonly DownwardItem[] };
}
interface DownwardItem {
  readonly path: string;
  readonly mode?: number;
  readonly fieldRef?: { readonly fieldPath: string };
}
type Volume = NonNullable<Pod["spec"]["volumes"]>[number] & {
  readonly downwardAPI?: { readonly items?: readonly DownwardItem[]; readonly defaultMode?: number };
};

interface VolumeFile {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

interface Prepared {
  readonly folder: string;
  readonly renewInMs?: number;
}

async function prepare(volume: Volume, request: VolumeRequest): Promise<Prepared> {
  const { pod, places } = request;
  const folder = places.volume(pod.metadata.uid ?? "", volume.name);
  const { configMap, secret, projected, downwardAPI, emptyDir, persistentVolumeClaim, hostPath } = volume;
  if (hostPath !== undefined) return { folder: hostPath.path };
  if (persistentVolumeClaim !== undefined) {
    const claim = await claimFolder(request, persistentVolumeClaim.claimName);
    if (claim.isOwn) await mkdir(claim.folder, { recursive: true, mode: 0o700 });
    return { folder: claim.folder };
  }
  await mkdir(folder, { recursive: true, mode: 0o755 });
  if (emptyDir !== undefined) return { folder };
  const files: VolumeFile[] = [];
  let renewInMs: number | undefined;
  if (configMap !== undefined) {
    files.push(...(await entryFiles(request, volume.name, "configmap", configMap, configMap.defaultMode)));
  } else if (secret !== undefined) {
    const named = { ...secret, ...(secret.secretName !== undefined && { name: secret.secretName }) };
    files.push(...(await entryFiles(request, volume.name, "secret", named, secret.defaultMode)));
  } else if (downwardAPI !== undefined) {
    files.push(...downwardFiles(request, volume.name, downwardAPI.items, downwardAPI.defaultMode));
  } else if (projected !== undefined) {
    for (const source of (projected.sources ?? []) as readonly ProjectedSource[]) {
      const mode = projected.defaultMode;
      if (source.configMap)
        files.push(...(await entryFiles(request, volume.name, "configmap", source.configMap, mode)));
      if (source.secret) files.push(...(await entryFiles(request, volume.name, "secret", source.secret, mode)));
      if (source.downwardAPI) files.push(...downwardFiles(request, volume.name, source.downwardAPI.items, mode));
      if (source.serviceAccountToken) {
        const { path, audience, expirationSeconds = 3600 } = source.serviceAccountToken;
        const token = await tokenFor(request, audience, expirationSeconds);
        files.push({ path, content: Buffer.from(token), mode: 0o600 });
        const soonMs = expirationSeconds * 1000 * renewAtShare;
        renewInMs = Math.min(renewInMs ?? soonMs, soonMs);
      }
    }
  } else throw cannotMount(volume.name, "this kind of volume is not served by the local node");
  await writeFiles(folder, files, volume.name);
  return { folder, ...(renewInMs !== undefined && { renewInMs }) };
}

/** As a kubelet does it: a token is replaced after four fifths of its life. */
const renewAtShare = 0.8;
const defaultFileMode = 0o644;

async function entryFiles(
  { source }: VolumeRequest,
  volume: string,
  kind: ConfigKind,
  reference: { readonly name?: string; readonly items?: readonly FileItem[]; readonly optional?: boolean },
  defaultMode: number = defaultFileMode,
): Promise<readonly VolumeFile[]> {
  const entries = await source
    .entries(kind, reference.name ?? "", reference.optional === true)
    .catch((error: unknown) => {
      throw error instanceof NotStartable ? cannotMount(volume, error.message) : error;
    });
  if (entries === undefined) return [];
  const all = [...entries].map(([key]): FileItem => ({ key, path: key }));
  return (reference.items ?? all).flatMap(({ key, path, mode }) => {
    const content = entries.get(key);
    if (content === undefined && reference.optional) return [];
    if (content === undefined) throw cannotMount(volume, `references non-existent ${kind} key: ${key}`);
    return [{ path, content, mode: mode ?? defaultMode }];
  });
}

function downwardFiles(
  { pod, addresses }: VolumeRequest,
  volume: string,
  items: readonly DownwardItem[] = [],
  defaultMode: number = defaultFileMode,
): readonly VolumeFile[] {
  return items.map(({ path, mode, fieldRef }) => {
    const value = downwardField(pod, fieldRef?.fieldPath ?? "", addresses);
    if (value === undefined) throw cannotMount(volume, `unsupported field ${fieldRef?.fieldPath}`);
    return { path, content: Buffer.from(value), mode: mode ?? defaultMode };
  });
}

async function tokenFor(
  { client, pod, signal }: VolumeRequest,
  audience: string | undefined,
  seconds: number,
): Promise<string> {
  const { namespace, name, uid } = pod.metadata;
  const account = pod.spec.serviceAccountName ?? "default";
  const answer = (await client.raw({
    method: "POST",
    target: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {
        audiences: audience ? [audience] : [],
        expirationSeconds: seconds,
        boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
      },
    },
    signal,
  })) as { readonly status?: { readonly token?: string } };
  return answer.status?.token ?? "";
}

/** Each file appears whole or not at all, and what is no longer there goes. */
async function writeFiles(folder: string, files: readonly VolumeFile[], volume: string): Promise<void> {
  const wanted = new Set(files.map(({ path }) => normalize(path).split("/")[0]));
  for (const entry of await readdir(folder)) {
    if (!wanted.has(entry)) await rm(join(folder, entry), { recursive: true, force: true });
  }
  for (const { path, content, mode } of files) {
    const target = within(folder, path, volume);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(`${target}.new`, content, { mode });
    await chmod(`${target}.new`, mode);
    await rename(`${target}.new`, target);
  }
}

function within(folder: string, path: string, volume: string): string {
  if (isAbsolute(path) || normalize(path).split("/").includes("..")) {
    throw cannotMount(volume, `${JSON.stringify(path)} leads out of the volume`);
  }
  return join(folder, path);
}

const cannotMount = (volume: string, why: string): NotStartable =>
  new NotStartable("ContainerCreating", `MountVolume.SetUp failed for volume ${JSON.stringify(volume)}: ${why}`);
