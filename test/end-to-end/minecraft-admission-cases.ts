import { PaperMCServer } from "../../src/api/papermc-server.ts";
import { Plugin } from "../../src/api/plugin.ts";
import { apiVersionOf } from "../../src/kube/kind.ts";

/** A manifest, and what whoever applies it is told: every check of the original operator's webhooks, line by line. */
export interface AdmissionCase {
  readonly name: string;
  readonly manifest: {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace: string };
  };
  /** Each of them is in the refusal, which begins with the object's name; none means that it is accepted. */
  readonly refused?: readonly string[];
  /** Exactly these, each behind the name of the policy. */
  readonly warned?: readonly string[];
}

/** How the API server begins a warning of a policy. */
export const policyWords = (policy: string): string =>
  `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${policy}'`;

type Fields = Readonly<Record<string, unknown>>;

const serverSpec: Fields = {
  updateStrategy: "auto",
  updateSchedule: { checkCron: "0 3 * * *", maintenanceWindow: { cron: "0 4 * * 0", enabled: true } },
  gracefulShutdown: { timeout: "300s" },
  rcon: { enabled: true, passwordSecret: { name: "rcon", key: "password" } },
  podTemplate: { spec: { containers: [{ name: "papermc" }] } },
};
const schedule = (checkCron: string, cron: string, enabled: boolean): Fields => ({
  updateSchedule: { checkCron, maintenanceWindow: { cron, enabled } },
});
const jar = "https://example.com/a.jar";
const checksum = "0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789";

const server = (changes: Fields) => ({
  apiVersion: apiVersionOf(PaperMCServer),
  kind: PaperMCServer.kind,
  metadata: { name: "survival", namespace: "games" },
  spec: { ...serverSpec, ...changes },
});
const plugin = (source: Fields, changes: Fields = {}) => ({
  apiVersion: apiVersionOf(Plugin),
  kind: Plugin.kind,
  metadata: { name: "maps", namespace: "games" },
  spec: { source, instanceSelector: {}, ...changes },
});

const cronAdvice = "is not a cron expression: expected five fields (minute hour day month weekday) or @daily";
const noChecksum =
  "Plugin maps: spec.source.checksum is not set, so whatever is found at spec.source.url is installed; set it to the SHA-256 of the jar";
const noJar =
  "Plugin maps: spec.source.url does not end in .jar; it should lead to the file itself, not to a page about it";

export const admissionCases: readonly AdmissionCase[] = [
  { name: "a project of Hangar", manifest: plugin({ type: "hangar", project: "BlueMap" }) },
  { name: "a jar with its checksum", manifest: plugin({ type: "url", url: jar, checksum }) },
  { name: "a jar behind a question", manifest: plugin({ type: "url", url: `${jar}?raw=true#top`, checksum }) },
  {
    name: "hangar without a project",
    manifest: plugin({ type: "hangar" }),
    refused: ["spec.source.project: Required value: project is required when type is hangar"],
  },
  {
    name: "url without a url",
    manifest: plugin({ type: "url", checksum }),
    refused: ["spec.source.url: Required value: url is required when type is url"],
  },
  {
    name: "a url that is not https",
    manifest: plugin({ type: "url", url: "http://example.com/a.jar", checksum }),
    refused: ["spec.source.url: Invalid value", "url must begin with https:// and name a host"],
  },
  {
    name: "a url without a host",
    manifest: plugin({ type: "url", url: "https:///a.jar", checksum }),
    refused: ["spec.source.url: Invalid value", "url must begin with https:// and name a host"],
  },
  {
    name: "a checksum that is not 64 hexadecimal digits",
    manifest: plugin({ type: "url", url: jar, checksum: "abc" }),
    refused: ['spec.source.checksum: Invalid value: "abc"', "should match '^[a-fA-F0-9]{64}$'"],
  },
  {
    name: "a source that nobody knows",
    manifest: plugin({ type: "spigot", project: "x" }),
    refused: ['spec.source.type: Unsupported value: "spigot": supported values: "hangar"'],
  },
  {
    name: "a plugin's strategy that nobody knows",
    manifest: plugin({ type: "hangar", project: "x" }, { updateStrategy: "pinned" }),
    refused: ['spec.updateStrategy: Unsupported value: "pinned": supported values: "latest"'],
  },
  {
    name: "a plugin's pin without a version",
    manifest: plugin({ type: "hangar", project: "x" }, { updateStrategy: "pin" }),
    refused: ["spec.version: Required value: version is required when updateStrategy is pin"],
  },
  {
    name: "a plugin's build-pin without version and build",
    manifest: plugin({ type: "hangar", project: "x" }, { updateStrategy: "build-pin" }),
    refused: ["spec.version: Required value", "spec.build: Required value: build is required"],
  },
  { name: "a jar without a checksum", manifest: plugin({ type: "url", url: jar }), warned: [noChecksum] },
  {
    name: "a page instead of a jar",
    manifest: plugin({ type: "url", url: "https://example.com/a.jar/page", checksum }),
    warned: [noJar],
  },
  {
    name: "a page, and no checksum",
    manifest: plugin({ type: "url", url: "https://example.com" }),
    warned: [noChecksum, noJar],
  },
  { name: "a server as it is meant", manifest: server({}) },
  {
    name: "schedules by name, and in a time zone",
    manifest: server(schedule("@daily", "TZ=Asia/Tokyo 0 4 * * SUN", true)),
  },
  { name: "a window that is switched off needs no schedule", manifest: server(schedule("0 3 * * *", "", false)) },
  {
    name: "a server's pin without a version",
    manifest: server({ updateStrategy: "pin" }),
    refused: ["spec.version: Required value: version is required when updateStrategy is pin"],
  },
  {
    name: "a server's build-pin without a build",
    manifest: server({ updateStrategy: "build-pin", version: "1.21.4" }),
    refused: ["spec.build: Required value: build is required when updateStrategy is build-pin"],
  },
  {
    name: "a server's strategy that nobody knows",
    manifest: server({ updateStrategy: "newest" }),
    refused: ['spec.updateStrategy: Unsupported value: "newest": supported values: "latest"'],
  },
  {
    name: "a checkCron that cannot be read",
    manifest: server(schedule("whenever", "0 4 * * 0", true)),
    warned: [`PaperMCServer survival: spec.updateSchedule.checkCron "whenever" ${cronAdvice}`],
  },
  {
    name: "a window that cannot be read",
    manifest: server(schedule("0 3 * * *", "61 4 * * 0", true)),
    warned: [`PaperMCServer survival: spec.updateSchedule.maintenanceWindow.cron "61 4 * * 0" ${cronAdvice}`],
  },
  {
    name: "RCON without the name of its Secret",
    manifest: server({ rcon: { enabled: true, passwordSecret: { name: "", key: "password" } } }),
    refused: ["spec.rcon.passwordSecret: Required value: name and key of the password's Secret"],
  },
  {
    name: "RCON without the key in its Secret",
    manifest: server({ rcon: { enabled: true, passwordSecret: { name: "rcon", key: "" } } }),
    refused: ["spec.rcon.passwordSecret: Required value: name and key of the password's Secret"],
  },
  {
    name: "a backup whose schedule cannot be read",
    manifest: server({ backup: { enabled: true, schedule: "0 0 * *" } }),
    warned: [`PaperMCServer survival: spec.backup.schedule "0 0 * *" ${cronAdvice}`],
  },
  { name: "a backup that is switched off", manifest: server({ backup: { enabled: false, schedule: "0 0 * *" } }) },
  {
    name: "a gateway without a parent",
    manifest: server({ gateway: { enabled: true } }),
    refused: ["spec.gateway.parentRefs: Required value: at least one parentRef is required"],
  },
];
