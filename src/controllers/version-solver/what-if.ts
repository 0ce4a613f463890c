import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import { type Parsed, parsed, refused } from "../../kube/parsed.ts";
import type { Cause } from "./explain-fleet.ts";

/** A change that somebody considers: without this plugin, with that pin, without waiting. */
export type WhatIf =
  | { readonly kind: "drop" | "unpin" | "undelay"; readonly object: "plugin" | "server"; readonly name: string }
  | { readonly kind: "pin"; readonly object: "plugin" | "server"; readonly name: string; readonly version: string };

export interface Objects {
  readonly servers: readonly PaperMCServer[];
  readonly plugins: readonly Plugin[];
}

/** `drop:plugin/x`, `pin:server/y=1.21.4`, `unpin:plugin/x`, `undelay:server/y`. */
export function parseWhatIf(text: string): Parsed<WhatIf> {
  const found = /^(drop|pin|unpin|undelay):(plugin|server)\/([^=/]+)(?:=(.+))?$/.exec(text);
  const expected = "expected drop:plugin/NAME, pin:server/NAME=VERSION, unpin:plugin/NAME or undelay:server/NAME";
  if (!found) return refused(`${JSON.stringify(text)} cannot be read; ${expected}`);
  const [, kind, object, name = "", version] = found;
  if ((kind === "pin") !== (version !== undefined))
    return refused(`${JSON.stringify(text)} cannot be read; ${expected}`);
  const what = object as "plugin" | "server";
  if (kind === "pin") return parsed({ kind, object: what, name, version: version ?? "" });
  return parsed({ kind: kind as "drop" | "unpin" | "undelay", object: what, name });
}

export const formatWhatIf = (change: WhatIf): string =>
  `${change.kind}:${change.object}/${change.name}${change.kind === "pin" ? `=${change.version}` : ""}`;

/** Refuses a change of something that is not there, so that a misspelt name is noticed. */
export function applyWhatIf(objects: Objects, change: WhatIf): Parsed<Objects> {
  const list: readonly (PaperMCServer | Plugin)[] = change.object === "plugin" ? objects.plugins : objects.servers;
  if (!list.some(({ metadata }) => metadata.name === change.name))
    return refused(`${formatWhatIf(change)}: there is no ${change.object} ${change.name}; ${namesOf(list)}`);
  if (change.object === "plugin") return parsed({ ...objects, plugins: changed(objects.plugins, change) });
  return parsed({ ...objects, servers: changed(objects.servers, change) });
}

const maxNamed = 10;

function namesOf(objects: readonly (PaperMCServer | Plugin)[]): string {
  const names = objects.map(({ metadata }) => metadata.name).sort();
  if (names.length === 0) return "there is none at all";
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return `there is ${names.slice(0, maxNamed).join(", ")}${more}`;
}

/** What a person could do about a cause; undefined where nothing is theirs to change. */
export function remedyOf(cause: Cause): WhatIf | undefined {
  switch (cause.kind) {
    case "Support":
    case "Needs":
      return { kind: "drop", object: "plugin", name: cause.plugin };
    case "PluginPin":
      return { kind: "unpin", object: "plugin", name: cause.plugin };
    case "PluginDelay":
      return { kind: "undelay", object: "plugin", name: cause.plugin };
    case "ServerPin":
      return { kind: "unpin", object: "server", name: cause.server };
    case "ServerDelay":
      return { kind: "undelay", object: "server", name: cause.server };
    case "PluginFloor":
    case "ServerFloor":
    case "Ahead":
    case "ComesFirst":
      return undefined;
  }
}

function changed<T extends PaperMCServer | Plugin>(objects: readonly T[], change: WhatIf): readonly T[] {
  return objects.flatMap((object): readonly T[] => {
    if (object.metadata.name !== change.name) return [object];
    const { updateDelay: _, ...undelayed } = object.spec;
    switch (change.kind) {
      case "drop":
        return [];
      case "pin": {
        const { build: __, ...spec } = object.spec;
        return [{ ...object, spec: { ...spec, updateStrategy: "pin", version: change.version } }];
      }
      case "unpin":
        return [{ ...object, spec: { ...object.spec, updateStrategy: "auto" } }];
      case "undelay":
        return [{ ...object, spec: undelayed } as T];
    }
  });
}
