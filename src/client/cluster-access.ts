/** Where a cluster is and how to get in: what a kubeconfig context or a pod's service account comes down to. */
export interface ClusterAccess {
  /** `https://10.0.0.1:6443`, perhaps with a path in front of the API. */
  readonly server: string;
  /** The namespace that is meant when a person names none. */
  readonly namespace: string;
  readonly tls: TlsAccess;
  readonly credential: Credential;
  /** `http://`, `https://` or `socks5://`; a user and password may stand in it. */
  readonly proxyUrl?: string;
  readonly impersonate?: Impersonation;
}

export interface TlsAccess {
  /** Absent: the authorities that the system trusts. */
  readonly ca?: TextSource;
  /** The name that the server's certificate must carry, when it is not the host of the URL. */
  readonly serverName?: string;
  readonly skipVerify?: boolean;
  readonly clientCertificate?: { readonly certificate: TextSource; readonly key: TextSource };
}

/** A file is read again as it may be replaced at any time; `label` is what an error calls it. */
export type TextSource =
  | { readonly kind: "Inline"; readonly text: string }
  | { readonly kind: "File"; readonly path: string; readonly label: string };

export type Credential =
  | { readonly kind: "None" }
  | { readonly kind: "Token"; readonly token: string }
  | { readonly kind: "TokenFile"; readonly path: string; readonly label: string }
  | { readonly kind: "Basic"; readonly username: string; readonly password: string }
  | { readonly kind: "Exec"; readonly plugin: ExecPlugin };

/** A program that prints a credential. */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  /** Given to the program when it asks for it. */
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  /** `users["dev"].user.exec of /home/me/.kube/config`: what an error calls it. */
  readonly label: string;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}
