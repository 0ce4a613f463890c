import type { StatefulSet } from "../../api/builtin/workloads.ts";
import { imageRepository } from "./docker-hub.ts";

/** A version of Paper in one build, as an image. */
export interface PaperImage {
  readonly version: string;
  readonly build?: number;
}

export const imageText = ({ version, build }: PaperImage): string =>
  `docker.io/${imageRepository}:${version}${build === undefined || build === 0 ? "" : `-${build}`}`;

/** What an image's tag says; undefined for an image that is not ours. */
export function readImage(image: string | undefined): PaperImage | undefined {
  const tag =
    /^(?:docker\.io\/)?lexfrei\/papermc:([0-9][0-9A-Za-z.]*?(?:-(?:rc|pre|snapshot)-?[0-9]*)?)(?:-([0-9]+))?$/.exec(
      image ?? "",
    );
  if (!tag) return undefined;
  const [, version = "", build] = tag;
  return { version, ...(build !== undefined && { build: Number(build) }) };
}

/** The first container runs the server, whatever it is called. */
export const serverImage = (set: StatefulSet | undefined): string | undefined =>
  set?.spec.template.spec.containers[0]?.image;
