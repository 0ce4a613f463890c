import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Command } from "commander";
import { type DashboardFlags, type DashboardSettings, dashboardSettingsOf, withDashboardFlags } from "./dashboard.ts";

const settingsOf = (...args: readonly string[]): DashboardSettings =>
  dashboardSettingsOf(withDashboardFlags(new Command()).parse(args, { from: "user" }).opts<DashboardFlags>());

test("without flags the dashboard is for loopback, and tokens are pasted", () => {
  assert.deepEqual(settingsOf(), {});
});

test("an issuer is complete, or its sentence says what is missing", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-flags-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "secret");
  writeFileSync(file, "hush\n");
  const url = ["--dashboard-url", "https://capstan.example.org"];
  const issuer = ["--dashboard-oidc-issuer", "https://login.example"];
  const client = ["--dashboard-oidc-client-id", "capstan"];
  assert.deepEqual(settingsOf(...url, ...issuer, ...client, "--dashboard-oidc-client-secret-file", file), {
    publicUrl: "https://capstan.example.org",
    oidc: {
      issuer: "https://login.example",
      clientId: "capstan",
      scopes: ["openid", "profile", "email", "groups"],
      clientSecret: "hush",
    },
  });
  assert.throws(() => settingsOf(...url, ...issuer), /needs --dashboard-oidc-client-id/);
  assert.throws(() => settingsOf(...issuer, ...client), /needs --dashboard-url/);
  assert.throws(() => settingsOf("--dashboard-url", "capstan.example.org"), /--dashboard-url: .* is not an address/);
  assert.throws(
    () => settingsOf(...url, ...issuer, ...client, "--dashboard-oidc-client-secret-file", join(folder, "none")),
    /cannot be read/,
  );
});
