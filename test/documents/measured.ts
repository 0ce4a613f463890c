import { readFileSync } from "node:fs";

/** One row of README's table of measurements. */
export interface MeasuredRow {
  readonly what: string;
  readonly beside: string;
  readonly result: string;
  /** The benchmark, as `npm run bench` takes it. */
  readonly name: string;
}

export function measuredRows(markdown: string): readonly MeasuredRow[] {
  const [, table = ""] = /^## Measured\n([\s\S]*?)^## /m.exec(`${markdown}\n## `) ?? [];
  return table
    .split("\n")
    .filter((line) => /^\| (?!what \|)/.test(line))
    .map((line) => {
      const [what = "", beside = "", result = "", name = ""] = line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
      return { what, beside, result, name: name.replaceAll("`", "") };
    });
}

/** What the last run of each benchmark says, in the words of README and in its order. */
export const measuredResults: readonly { readonly name: string; readonly result: () => string }[] = [
  {
    name: "apiserver",
    result: () => {
      const { ours, ratio } = server("start to first accepted custom resource");
      return `${ours} ms, ${short(ratio)} times as fast`;
    },
  },
  { name: "apiserver", result: () => `${short(1 / server("resident memory, idle").ratio)} of it` },
  {
    name: "apiserver",
    result: () =>
      `${range(["creates", "get + update", "status patches", "applies", "gets"].map((each) => server(`${each}, 64 clients`).ratio))} times as many`,
  },
  { name: "apiserver", result: () => `${short(1 / server("100 watchers × 1,000 updates, p99").ratio)} of its delay` },
  { name: "client", result: () => `${short(client("GET of a pod, 32 at a time").ratio)} times as many` },
  { name: "client", result: () => `${short(client("heap per object, 10,000 pods of 4.5 KB").ratio)} of it` },
  {
    name: "client",
    result: () => `${short(client("longest event-loop block of the first sync, 10,000 pods of 4.5 KB").ratio)} of it`,
  },
  {
    name: "queue",
    result: () => `${short(queue("priorities, against controller-runtime's priority queue"))} times as fast`,
  },
  { name: "queue", result: () => `${short(queue("plain, against client-go's work queue"))} times as fast` },
  { name: "rego", result: () => `${range(rego("OPA in process"))} times as fast` },
  { name: "rego", result: () => `${range(rego("regorus"))} times; ${range(rego("opa-wasm"))} times as fast` },
  {
    name: "registry",
    result: () => {
      const { lookupToConsul, durableRegistrationToConsul } = registry();
      return `${short(lookupToConsul)} times; ${short(durableRegistrationToConsul)} times as many`;
    },
  },
  {
    name: "registry",
    result: () => {
      const { lookupToRnacos, durableRegistrationToRnacosInMemory } = registry();
      return `${short(lookupToRnacos)} times; ${short(durableRegistrationToRnacosInMemory)} times as many`;
    },
  },
  { name: "resolver", result: () => `${short(first(row("resolver", /^ratio/)))} times as fast` },
  { name: "solver", result: () => `${short(first(row("solver", /^500 .*: ratio/)))} of its time` },
  {
    name: "class-runtime",
    result: () => {
      const name = /^a new image of one function: controllers' CPU \(published for Go: ([\d.]+) ms\)/;
      const published = name.exec(rows("class-runtime").find((each) => name.test(each.name))?.name ?? "")?.[1];
      return `${short(first(row("class-runtime", name)))} ms instead of ${published} ms`;
    },
  },
  {
    name: "actions",
    result: () => {
      const { stoodIn } = results("actions") as {
        readonly stoodIn: { readonly overheadMs: { readonly p50: number }; readonly writesPerAction: number };
      };
      return `${short(stoodIn.overheadMs.p50)} ms and ${stoodIn.writesPerAction} API writes`;
    },
  },
];

const results = (name: string): unknown => JSON.parse(readFileSync(`bench/results/${name}.json`, "utf8"));

/** Two digits that count, which is as much as a shared machine can say. */
const short = (value: number): string => String(Number(value.toPrecision(2)));
const range = (values: readonly number[]): string => `${short(Math.min(...values))} to ${short(Math.max(...values))}`;

interface Ratio {
  readonly name: string;
  readonly ours: number;
  readonly ratio: number;
}
const ratioOf = (file: string, name: string): Ratio => {
  const found = (results(file) as { readonly rows: readonly Ratio[] }).rows.find((each) => each.name === name);
  if (!found) throw new Error(`bench/results/${file}.json has no row ${name}`);
  return found;
};
const server = (name: string): Ratio => ratioOf("apiserver", name);
const client = (name: string): Ratio => ratioOf("client", name);

const queue = (name: string): number =>
  (results("queue") as { readonly ratios: Readonly<Record<string, { readonly cpu: number }>> }).ratios[name]?.cpu ??
  Number.NaN;

interface RegoRow {
  readonly engine: string;
  readonly measure: string;
  readonly timesSlowerThanCapstan: number;
}
const rego = (engine: string): readonly number[] =>
  (results("rego") as { readonly rows: readonly RegoRow[] }).rows
    .filter((each) => each.engine === engine && each.measure === "decision")
    .map(({ timesSlowerThanCapstan }) => timesSlowerThanCapstan);

interface RegistryRatios {
  readonly lookupToConsul: number;
  readonly durableRegistrationToConsul: number;
  readonly lookupToRnacos: number;
  readonly durableRegistrationToRnacosInMemory: number;
}
const registry = (): RegistryRatios => (results("registry") as { readonly ratios: RegistryRatios }).ratios;

interface TextRow {
  readonly name: string;
  readonly value: string;
}
const rows = (file: string): readonly TextRow[] => results(file) as readonly TextRow[];
const row = (file: string, name: RegExp): string => rows(file).find((each) => name.test(each.name))?.value ?? "";
const first = (text: string): number => Number.parseFloat(text);
