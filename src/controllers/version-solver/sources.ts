/**
 * The names under which limits and relations of a fleet's problem stand, so that an explanation can be turned back into
 * the objects that people wrote.
 */
export type Source =
  /** What the plugin supports. */
  | { readonly kind: "Support"; readonly plugin: string }
  | { readonly kind: "Needs"; readonly plugin: string; readonly project: string }
  | { readonly kind: "PluginPin" | "PluginDelay" | "PluginFloor"; readonly plugin: string }
  | { readonly kind: "ServerPin" | "ServerDelay" | "ServerFloor"; readonly server: string }
  /** A server that follows no plugin, but whose version its plugins have to fit. */
  | { readonly kind: "Ahead"; readonly plugin: string; readonly server: string };

export const formatSource = (source: Source): string => JSON.stringify(source);

export const parseSource = (text: string): Source => JSON.parse(text) as Source;
