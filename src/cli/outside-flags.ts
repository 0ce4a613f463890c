import type { Command } from "commander";
import { type BaseUrls, defaultBaseUrls } from "../controllers/minecraft/base-urls.ts";
import { setting } from "./settings.ts";

/** Where the outside services are: flags, so that a mirror or a recording can stand in. */
export interface OutsideFlags {
  readonly hangarUrl: string;
  readonly modrinthUrl: string;
  readonly paperUrl: string;
  readonly dockerHubUrl: string;
}

export const withOutsideFlags = (command: Command): Command =>
  command
    .addOption(setting("--hangar-url <url>", "the plugin repository Hangar").default(defaultBaseUrls.hangar))
    .addOption(setting("--modrinth-url <url>", "the plugin repository Modrinth").default(defaultBaseUrls.modrinth))
    .addOption(setting("--paper-url <url>", "PaperMC's download service").default(defaultBaseUrls.paper))
    .addOption(setting("--docker-hub-url <url>", "Docker Hub").default(defaultBaseUrls.dockerHub));

export const baseUrlsOf = ({ hangarUrl, modrinthUrl, paperUrl, dockerHubUrl }: OutsideFlags): BaseUrls => ({
  hangar: hangarUrl,
  modrinth: modrinthUrl,
  paper: paperUrl,
  dockerHub: dockerHubUrl,
});
