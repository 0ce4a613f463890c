import { Option } from "commander";
import { stringifyYaml } from "../kube/yaml.ts";
import { inColour } from "./colour.ts";

/** How an answer is printed: the same words with every command, as with kubectl. */
export type OutputFormat = "table" | "wide" | "json" | "yaml" | "name";
export const outputFormats: readonly OutputFormat[] = ["table", "wide", "json", "yaml", "name"];

export const outputOption = (): Option =>
  new Option("-o, --output <format>", "how to print").choices(outputFormats).default("table");

/** One answer in all its forms. */
export interface Answer {
  /** For programs. */
  readonly value: unknown;
  /** `kind.group/name`, or whatever names the parts of the answer. */
  readonly names: readonly string[];
  /** For people. */
  table(isWide: boolean): string;
}

export function render(answer: Answer, format: OutputFormat): string {
  switch (format) {
    case "json":
      return `${JSON.stringify(answer.value, null, 2)}\n`;
    case "yaml":
      return stringifyYaml(answer.value);
    case "name":
      return answer.names.map((name) => `${oneLine(name)}\n`).join("");
    case "table":
    case "wide":
      return inColour(answer.table(format === "wide"));
  }
}

/** A cell keeps its line and its column, whatever its writer put into it. */
export const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
