import { readFileSync } from "node:fs";
import { placeOf, stepsOf } from "./commands.ts";

/** In the order in which an operator meets them. */
const documents: readonly string[] = ["install", "dashboard", "troubleshooting", "backup-and-restore", "upgrade"];

export interface OperationsCommand {
  /** `docs/operations/install.md:30` */
  readonly where: string;
  readonly text: string;
}

/** The commands of docs/operations that are to be typed by the given test. */
export const operationsCommands = (file: string): readonly OperationsCommand[] =>
  documents.flatMap((name) => {
    const document = `docs/operations/${name}.md`;
    return stepsOf(readFileSync(document, "utf8")).flatMap(({ kind, line, text }) => {
      const place = kind === "Command" ? placeOf(document, text) : undefined;
      return place?.kind === "Elsewhere" && place.file === file ? [{ where: `${document}:${line}`, text }] : [];
    });
  });
