import { type Command, InvalidArgumentError, type Option } from "commander";
import type { RegistrySettings } from "../../control-plane/registry.ts";
import { parseDurationMs } from "../../kube/duration.ts";
import type { ProbeKind } from "../../registry/health/probe.ts";
import { Failure } from "../failure.ts";
import { parsePort, setting } from "../settings.ts";

/** Everything that can be chosen about the service registry. */
export interface RegistryFlags {
  readonly registryNamespace: string;
  readonly registryMissingAfter: number;
  readonly registryDeregisterAfter: number;
  readonly registryForgetAfter: number;
  readonly registryHistory: number;
  readonly registryMaxServices?: number;
  readonly registryMaxSubscribers: number;
  readonly registryRequestsPerSecond: number;
  readonly registryAllowedOrigins?: readonly string[];
  readonly registryTokensFile?: string;
  readonly registryOidcIssuer?: string;
  readonly registryOidcAudience?: string;
  readonly registryOidcJwksUrl?: string;
  readonly registryOidcCaFile?: string;
  readonly registryOidcAdministratorRole?: string;
  readonly registryTokenReviewAudience?: string;
  readonly registryAdministratorGroup?: string;
  readonly registryProbe: ProbeKind | "none";
  readonly registryProbePath: string;
  readonly registryProbeInterval: number;
  readonly registryProbeTimeout: number;
  readonly registryProbeAllow?: readonly string[];
  readonly registryPort?: number;
  readonly registryBindAddress: string;
  readonly registryTlsCertFile?: string;
  readonly registryTlsKeyFile?: string;
}

export function withRegistryFlags(command: Command): Command {
  for (const option of registryOptions()) command.addOption(option);
  return command;
}

const registryOptions = (): readonly Option[] => [
  setting("--registry-namespace <name>", "where services are mirrored that have no namespace of their own").default(
    "capstan-system",
  ),
  duration("--registry-missing-after <duration>", "a service not heard of for so long is missing in action", "90s"),
  duration("--registry-deregister-after <duration>", "and is deregistered after so long", "10m"),
  duration("--registry-forget-after <duration>", "and after so long its id is forgotten", "1h"),
  setting("--registry-history <states>", "how many states of each service are kept").argParser(parseCount).default(10),
  setting("--registry-max-services <count>", "services of one identity; 50000 where there are identities").argParser(
    parseCount,
  ),
  setting("--registry-max-subscribers <count>", "readers of the feed").argParser(parseCount).default(10_000),
  setting("--registry-requests-per-second <count>", "requests of one identity").argParser(parseCount).default(5_000),
  setting("--registry-allowed-origins <origins>", "web pages of other origins that may use the registry").argParser(
    parseList,
  ),
  setting("--registry-tokens-file <file>", "bearer tokens: token,identity[,namespace[,administrator]] on each line"),
  setting("--registry-oidc-issuer <url>", "accept tokens of this OpenID Connect issuer").argParser(parseUrl),
  setting("--registry-oidc-audience <name>", "that were issued for this audience"),
  setting("--registry-oidc-jwks-url <url>", "where its keys are, when its discovery document does not say").argParser(
    parseUrl,
  ),
  setting("--registry-oidc-ca-file <file>", "who signed the issuer's certificate, when the system does not know them"),
  setting("--registry-oidc-administrator-role <role>", "who may act on what others registered"),
  setting(
    "--registry-token-review-audience <name>",
    "accept tokens of Kubernetes ServiceAccounts that were issued for this audience",
  ),
  setting("--registry-administrator-group <group>", "whose members may act on what others registered"),
  setting("--registry-probe <kind>", "ask services whether they are alive")
    .choices(["none", "tcp", "http", "grpc"])
    .default("none"),
  setting("--registry-probe-path <path>", "what an HTTP probe asks for").default("/healthz"),
  duration("--registry-probe-interval <duration>", "how often", "60s"),
  duration("--registry-probe-timeout <duration>", "how long an answer may take", "3s"),
  setting("--registry-probe-allow <ranges>", "private addresses that may be probed, such as 10.42.0.0/16").argParser(
    parseList,
  ),
  setting("--registry-port <port>", "a port for the registry alone, 0 for any free one").argParser(parsePort),
  setting("--registry-bind-address <address>", "the address of that port").default("127.0.0.1"),
  setting("--registry-tls-cert-file <file>", "its certificate (PEM), read again when it changes"),
  setting("--registry-tls-key-file <file>", "and the key of the certificate"),
];

/** What the flags say, checked together. */
export function registrySettingsOf(flags: RegistryFlags): RegistrySettings {
  if (flags.registryDeregisterAfter < flags.registryMissingAfter)
    throw new Failure(
      "--registry-deregister-after is shorter than --registry-missing-after: a service must be missing before it is deregistered",
    );
  const perSecond = flags.registryRequestsPerSecond;
  return {
    namespace: flags.registryNamespace,
    missingAfterMs: flags.registryMissingAfter,
    deregisterAfterMs: flags.registryDeregisterAfter,
    forgetAfterMs: flags.registryForgetAfter,
    maxStates: flags.registryHistory,
    maxSubscribers: flags.registryMaxSubscribers,
    rateLimit: { perSecond, burst: 4 * perSecond },
    allowedOrigins: flags.registryAllowedOrigins ?? [],
    ...(flags.registryMaxServices !== undefined && { maxServicesPerOwner: flags.registryMaxServices }),
    ...accessOf(flags),
    ...probeOf(flags),
    ...listenOf(flags),
  };
}

function accessOf(flags: RegistryFlags): Pick<RegistrySettings, "tokensFile" | "oidc" | "tokenReview"> {
  const { registryOidcIssuer: issuer, registryOidcAudience: audience } = flags;
  if ((issuer === undefined) !== (audience === undefined))
    throw new Failure("--registry-oidc-issuer and --registry-oidc-audience belong together: name both or none");
  return {
    ...(flags.registryTokensFile !== undefined && { tokensFile: flags.registryTokensFile }),
    ...(issuer !== undefined &&
      audience !== undefined && {
        oidc: {
          issuer,
          audience,
          ...(flags.registryOidcJwksUrl !== undefined && { jwksUrl: flags.registryOidcJwksUrl }),
          ...(flags.registryOidcCaFile !== undefined && { caFile: flags.registryOidcCaFile }),
          ...(flags.registryOidcAdministratorRole !== undefined && {
            administratorRole: flags.registryOidcAdministratorRole,
          }),
        },
      }),
    ...(flags.registryTokenReviewAudience !== undefined && {
      tokenReview: {
        audience: flags.registryTokenReviewAudience,
        ...(flags.registryAdministratorGroup !== undefined && { administratorGroup: flags.registryAdministratorGroup }),
      },
    }),
  };
}

const probeOf = (flags: RegistryFlags): Pick<RegistrySettings, "probe"> =>
  flags.registryProbe === "none"
    ? {}
    : {
        probe: {
          kind: flags.registryProbe,
          path: flags.registryProbePath,
          intervalMs: flags.registryProbeInterval,
          timeoutMs: flags.registryProbeTimeout,
          allowedRanges: flags.registryProbeAllow ?? [],
        },
      };

function listenOf(flags: RegistryFlags): Pick<RegistrySettings, "listen"> {
  const { registryPort: port, registryTlsCertFile: certFile, registryTlsKeyFile: keyFile } = flags;
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new Failure("--registry-tls-cert-file and --registry-tls-key-file belong together: name both or none");
  if (port === undefined) {
    if (certFile !== undefined) throw new Failure("--registry-tls-cert-file needs a --registry-port of its own");
    return {};
  }
  const tls = certFile !== undefined && keyFile !== undefined ? { tls: { certFile, keyFile } } : {};
  return { listen: { host: flags.registryBindAddress, port, ...tls } };
}

const duration = (flag: string, description: string, usual: string): Option =>
  setting(flag, description).argParser(parsePositiveDuration).default(parsePositiveDuration(usual), usual);

function parsePositiveDuration(text: string): number {
  const read = parseDurationMs(text);
  if (!read.ok || read.value <= 0) throw new InvalidArgumentError("A duration is written like 90s, 10m or 1h.");
  return read.value;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError("It must be a whole number from 1.");
  return count;
}

const parseList = (text: string): readonly string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

function parseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError("It must be an http:// or https:// URL.");
  return text;
}
