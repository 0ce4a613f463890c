/** What `capstan install` is asked for. */
export interface InstallOptions {
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
  /** One Deployment for all systems instead of one for each. */
  readonly single: boolean;
  readonly registryNamespace: string;
}

/** Systems that share one Deployment, and so one ServiceAccount, one lease and one role. */
export interface Group {
  /** Of the Deployment and of everything that belongs to it. */
  readonly name: string;
  readonly systems: readonly string[];
}

/** Separate by default: what reads Secrets or starts workloads for one system is no right of another. */
export const groupsOf = (systemNames: readonly string[], single: boolean): readonly Group[] =>
  single
    ? [{ name: "capstan", systems: systemNames }]
    : systemNames.map((system) => ({ name: `capstan-${system}`, systems: [system] }));
