/** Where the outside services are; each can be replaced by a mirror or a recording. */
export interface BaseUrls {
  readonly hangar: string;
  readonly modrinth: string;
  readonly paper: string;
  readonly dockerHub: string;
}

export const defaultBaseUrls: BaseUrls = {
  hangar: "https://hangar.papermc.io/api/v1",
  modrinth: "https://api.modrinth.com/v2",
  paper: "https://fill.papermc.io",
  dockerHub: "https://hub.docker.com/v2",
};

/** Without the slash that people put at the end. */
export const normalized = (urls: Partial<BaseUrls>): BaseUrls => {
  const all = { ...defaultBaseUrls, ...urls };
  const trimmed = (url: string): string => url.replace(/\/+$/, "");
  return {
    hangar: trimmed(all.hangar),
    modrinth: trimmed(all.modrinth),
    paper: trimmed(all.paper),
    dockerHub: trimmed(all.dockerHub),
  };
};

/** Those that somebody chose instead of the services themselves. */
export const chosenUrls = (urls: BaseUrls): readonly string[] =>
  Object.values(urls).filter((url) => !Object.values(defaultBaseUrls).includes(url));
