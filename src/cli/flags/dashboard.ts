import { readFileSync } from "node:fs";
import type { Command } from "commander";
import type { DashboardSources, OidcSettings } from "../../control-plane/dashboard.ts";
import { Failure } from "../failure.ts";
import { setting } from "../settings.ts";
import { whyUnreadable } from "../unreadable.ts";

/** Where people reach the dashboard of a cluster, and how they sign in besides pasting a token. */
export interface DashboardFlags {
  readonly dashboardUrl?: string;
  readonly dashboardOidcIssuer?: string;
  readonly dashboardOidcClientId?: string;
  readonly dashboardOidcClientSecretFile?: string;
  readonly dashboardOidcScopes?: string;
}

export type DashboardSettings = Pick<DashboardSources, "publicUrl" | "oidc">;

export const withDashboardFlags = (command: Command): Command =>
  command
    .addOption(setting("--dashboard-url <url>", "where people reach the dashboard; loopback only when absent"))
    .addOption(
      setting(
        "--dashboard-oidc-issuer <url>",
        "OpenID Connect issuer that people sign in with; the cluster must trust its tokens for the same client",
      ),
    )
    .addOption(setting("--dashboard-oidc-client-id <id>", "the dashboard's client at that issuer"))
    .addOption(setting("--dashboard-oidc-client-secret-file <file>", "its secret; none for a public client"))
    .addOption(
      setting("--dashboard-oidc-scopes <scopes>", "what to ask the issuer for, separated by commas").default(
        "openid,profile,email,groups",
      ),
    );

export function dashboardSettingsOf(flags: DashboardFlags): DashboardSettings {
  const publicUrl = flags.dashboardUrl && webAddress("--dashboard-url", flags.dashboardUrl);
  const oidc = oidcOf(flags);
  if (oidc && !publicUrl)
    throw new Failure("--dashboard-oidc-issuer needs --dashboard-url: the issuer sends people back there");
  return { ...(publicUrl && { publicUrl }), ...(oidc && { oidc }) };
}

function oidcOf(flags: DashboardFlags): OidcSettings | undefined {
  const { dashboardOidcIssuer: issuer, dashboardOidcClientId: clientId, dashboardOidcClientSecretFile: file } = flags;
  if (!issuer) return undefined;
  if (!clientId) throw new Failure("--dashboard-oidc-issuer needs --dashboard-oidc-client-id");
  const scopes = (flags.dashboardOidcScopes ?? "openid").split(",").map((scope) => scope.trim());
  webAddress("--dashboard-oidc-issuer", issuer);
  return { issuer, clientId, scopes, ...(file && { clientSecret: secretIn(file) }) };
}

function webAddress(flag: string, text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Failure(`${flag}: ${JSON.stringify(text)} is not an address such as https://capstan.example.org`);
  return text;
}

function secretIn(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new Failure(`--dashboard-oidc-client-secret-file: ${file} cannot be read: ${whyUnreadable(error)}`);
  }
}
