import { join } from "node:path";

/** Where the files of pods with processes are, below the node's own folder. */
export interface Places {
  readonly bin: string;
  readonly pods: string;
  pod(uid: string): string;
  volume(uid: string, name: string): string;
  container(uid: string, name: string): string;
  claim(namespace: string, name: string): string;
}

export function placesIn(folder: string): Places {
  const pods = join(folder, "pods");
  // Names come from the API, which lets neither slashes nor dots alone through; a uid it makes itself.
  const pod = (uid: string): string => join(pods, safe(uid));
  return {
    bin: join(folder, "bin"),
    pods,
    pod,
    volume: (uid, name) => join(pod(uid), "volumes", safe(name)),
    container: (uid, name) => join(pod(uid), "containers", safe(name)),
    claim: (namespace, name) => join(folder, "claims", safe(namespace), safe(name)),
  };
}

export function safe(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) throw new RangeError(`${JSON.stringify(name)} cannot name a folder`);
  return name;
}
