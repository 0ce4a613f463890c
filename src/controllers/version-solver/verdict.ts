import type { PaperMCServer, PaperServerReason } from "../../api/papermc-server.ts";
import type { PluginReason } from "../../api/plugin.ts";
import { compareMinecraftVersions, parseMinecraftVersion } from "../../versions/minecraft.ts";
import { fits } from "./compatibility.ts";
import type { Hold } from "./explain-fleet.ts";
import { compare, imageOf, isPinImageMissing, tagOf } from "./server-choices.ts";
import type { FleetAnswer, PluginAnswer, ServerAnswer } from "./solve-fleet.ts";

/** What an answer means for one object, in the words of its conditions. */
export interface ConditionVerdict<R extends string> {
  readonly status: "True" | "False";
  readonly reason: R;
  readonly message: string;
}

type Blocked = NonNullable<NonNullable<PaperMCServer["status"]>["updateBlocked"]>;

export interface ServerVerdict {
  readonly blocked: Blocked;
  readonly compatible: ConditionVerdict<PaperServerReason<"Compatible">>;
  readonly summary: string;
}

export function serverVerdict(server: ServerAnswer, answer: FleetAnswer, hold: Hold | undefined): ServerVerdict {
  const compatible = serverCompatibility(server, answer);
  const blocked = blockOf(server, answer, hold);
  return { blocked, compatible, summary: summaryOf(server, compatible, hold) };
}

function blockOf(server: ServerAnswer, { model }: FleetAnswer, hold: Hold | undefined): Blocked {
  const object = model.fleet.servers.find(({ metadata }) => metadata.name === server.name);
  const { current } = server;
  if (object && current && object.spec.version !== undefined && isPin(object)) {
    const pinned = parseMinecraftVersion(object.spec.version);
    const candidate = {
      version: pinned,
      ...(object.spec.updateStrategy === "build-pin" && { build: object.spec.build ?? 0 }),
    };
    const isOlder =
      "build" in candidate
        ? compare(candidate, current) < 0
        : compareMinecraftVersions(pinned, { ...current.version, build: 0 }) < 0;
    if (isOlder)
      return {
        blocked: true,
        reason: `Downgrade not allowed: current=${tagOf(current)}, candidate=${tagOf(candidate)}`,
      };
    if (isPinImageMissing(object) && compare(candidate, current) !== 0)
      return {
        blocked: true,
        reason: `Image ${imageOf({ ...candidate, ...(object.spec.build !== undefined && { build: object.spec.build }) })} does not exist`,
      };
  }
  if (server.chosen === undefined) return { blocked: true, reason: server.message ?? "" };
  if (server.waitsFor.length > 0)
    return { blocked: true, reason: `Waits for the versions of ${server.waitsFor.join(", ")}` };
  if (hold?.by !== "Others") return { blocked: false };
  return {
    blocked: true,
    reason: hold.message,
    ...(hold.blocker && {
      blockedBy: {
        plugin: hold.blocker.plugin,
        version: hold.blocker.version,
        supportedVersions: hold.blocker.supportedVersions,
      },
    }),
  };
}

const isPin = ({ spec }: PaperMCServer): boolean =>
  spec.updateStrategy === "pin" || spec.updateStrategy === "build-pin";

function serverCompatibility({ name, chosen }: ServerAnswer, { plugins }: FleetAnswer): ServerVerdict["compatible"] {
  const matched = [...plugins.values()].flatMap((plugin) =>
    plugin.matches.filter(({ server }) => server === name).map((match) => ({ plugin, match })),
  );
  if (matched.length === 0)
    return { status: "True", reason: "NoPluginsMatched", message: "No plugin's selector matches this server" };
  const wrong = matched.filter(
    ({ plugin, match }) => plugin.state === "NothingFits" || (plugin.state === "Chosen" && !fits(match.fit)),
  );
  if (wrong.length > 0)
    return {
      status: "False",
      reason: "IncompatiblePlugin",
      message: `No version fits ${chosen?.version.text ?? "this server"} and all other servers of: ${wrong.map(({ plugin }) => plugin.name).join(", ")}`,
    };
  if (!chosen)
    return {
      status: "True",
      reason: "CompatibilityAssumed",
      message: "No version is chosen yet, so nothing can be said against the plugins",
    };
  const assumed = matched
    .filter(({ plugin, match }) => match.fit === "Assumed" || plugin.state === "Unknown" || plugin.state === "Pending")
    .map(({ plugin }) => plugin.name);
  if (assumed.length > 0)
    return {
      status: "True",
      reason: "CompatibilityAssumed",
      message: `Nothing is known of what these support, so they are taken to fit: ${assumed.join(", ")}`,
    };
  return {
    status: "True",
    reason: "AllCompatible",
    message: `All ${matched.length} plugins fit ${chosen.version.text}`,
  };
}

function summaryOf(
  { chosen, current, newest, message }: ServerAnswer,
  compatible: ServerVerdict["compatible"],
  hold: Hold | undefined,
): string {
  if (!chosen) return message ?? "";
  const place = current && compare(current, chosen) === 0 ? `stays at ${tagOf(chosen)}` : `goes to ${tagOf(chosen)}`;
  const isNewest = !newest || compare(chosen, newest) >= 0;
  const why = hold
    ? `; not newer: ${hold.message}`
    : isNewest
      ? ", the newest"
      : "; the time ran out before it was clear why it is not newer";
  const warning = compatible.reason === "IncompatiblePlugin" ? `; ${compatible.message}` : "";
  return `${place}${why}${warning}`;
}

export interface PluginVerdict {
  readonly resolved: ConditionVerdict<PluginReason<"VersionResolved">>;
  readonly compatible: ConditionVerdict<PluginReason<"Compatible">>;
  readonly summary: string;
}

export function pluginVerdict(plugin: PluginAnswer, answer: FleetAnswer): PluginVerdict {
  const resolved = resolutionOf(plugin);
  const compatible = compatibilityOf(plugin, answer);
  const summary = resolved.status === "False" || compatible.status === "True" ? resolved.message : compatible.message;
  return { resolved, compatible, summary };
}

function resolutionOf({
  name,
  state,
  member,
  chosen,
  pin,
  missing,
  cycle,
  installed,
}: PluginAnswer): PluginVerdict["resolved"] {
  const no = (reason: PluginReason<"VersionResolved">, message: string): PluginVerdict["resolved"] => ({
    status: "False",
    reason,
    message,
  });
  if (member.selectorProblem !== undefined)
    return no("InvalidSelector", `spec.instanceSelector of ${name} cannot be read: ${member.selectorProblem}`);
  if (state === "NoServers" || member.servers.length === 0)
    return no("NoServersMatched", "spec.instanceSelector matches no server of this namespace");
  if (state === "Pending") return no("NoVersions", "No version is known yet");
  if (state === "Unknown") return no("Unavailable", "No version is known, because the repository could not be asked");
  if (pin && !pin.known)
    return no(
      "NoVersions",
      `spec.version ${pin.version} of ${pin.plugin} is not among the known versions; set it to one of status.availableVersions`,
    );
  if (!chosen)
    return no(
      "NoVersions",
      `No version fits all servers; ${installed === undefined ? "none is installed" : `${installed} stays installed`}`,
    );
  if (cycle)
    return no(
      "DependencyCycle",
      `Plugins need each other in a circle, which Paper refuses to load: ${cycle.join(" → ")}; pin one of them to a version that does not`,
    );
  const [lacking] = missing;
  if (lacking)
    return no(
      "DependencyMissing",
      `${chosen.version} needs ${lacking.project}, which no Plugin brings to ${lacking.servers.join(", ")}; add one`,
    );
  if (pin && pin.overruled.length > 0)
    return {
      status: "True",
      reason: "HighestPinChosen",
      message: `${chosen.version}: the highest pin of this project wins, over ${pin.overruled.join(", ")}`,
    };
  return {
    status: "True",
    reason: "Resolved",
    message: `${chosen.version} for ${member.servers.length} ${member.servers.length === 1 ? "server" : "servers"}`,
  };
}

function compatibilityOf(
  { state, matches, chosen, pin, member, project }: PluginAnswer,
  answer: FleetAnswer,
): PluginVerdict["compatible"] {
  if (state === "NoServers" || member.servers.length === 0)
    return { status: "True", reason: "NoServersMatched", message: "There is no server to fit" };
  if (state === "Pending" || state === "Unknown")
    return {
      status: "True",
      reason: "CompatibilityAssumed",
      message: "No version is known, so nothing can be said against it",
    };
  if (!chosen) {
    const servers = [
      ...new Set(project.members.flatMap((one) => one.servers.map(({ metadata }) => metadata.name))),
    ].sort();
    const versions = servers.map((name) => `${name} (${answer.servers.get(name)?.chosen?.version.text ?? "unknown"})`);
    if (pin)
      return {
        status: "False",
        reason: "IncompatiblePin",
        message: `The pinned ${pin.version} of ${pin.plugin} does not fit ${versions.join(", ")}; set its spec.version to one that does, or unpin it`,
      };
    return {
      status: "False",
      reason: "NoCompatibleVersion",
      message: `No version fits ${versions.join(", ")}; if one does in truth, say so in spec.compatibilityOverride`,
    };
  }
  const servers = matches.map(({ server }) => server).join(", ");
  if (matches.some(({ fit }) => fit === "Overridden"))
    return {
      status: "True",
      reason: "OverrideApplied",
      message: `compatibilityOverride says that ${chosen.version} fits ${servers}`,
    };
  if (matches.some(({ fit }) => fit === "Assumed"))
    return {
      status: "True",
      reason: "CompatibilityAssumed",
      message: `The repository does not say what ${chosen.version} supports, so it is taken to fit ${servers}`,
    };
  return { status: "True", reason: "AllServersCompatible", message: `${chosen.version} fits ${servers}` };
}
