/**
 * A small Prometheus registry: counters, gauges, histograms and the text format. Metrics are asked for by name; asking
 * twice gives the same one, so that parts of the runtime need not know of each other.
 */
export class MetricsRegistry {
  readonly #metrics = new Map<string, Metric>();
  readonly #collectors = new Set<() => void>();

  counter<L extends string = never>(options: MetricOptions<L>): Counter<L> {
    return this.#ask(options, Counter<L>, () => new Counter<L>(options));
  }

  gauge<L extends string = never>(options: MetricOptions<L>): Gauge<L> {
    return this.#ask(options, Gauge<L>, () => new Gauge<L>(options));
  }

  histogram<L extends string = never>(options: HistogramOptions<L>): Histogram<L> {
    return this.#ask(options, Histogram<L>, () => new Histogram<L>(options));
  }

  /** Called before every exposition, to set gauges that nobody else keeps up to date; answers how to stop. */
  onCollect(collect: () => void): () => void {
    this.#collectors.add(collect);
    return () => this.#collectors.delete(collect);
  }

  /** What there is to be measured, sorted by name. */
  describe(): readonly MetricDescription[] {
    return [...this.#metrics.entries()]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, { type, help, labels }]) => ({ name, type, help, labels }));
  }

  /** The text exposition format, version 0.0.4; metrics sorted by name. */
  expose(): string {
    for (const collect of this.#collectors) collect();
    const names = [...this.#metrics.keys()].sort();
    return names.map((name) => exposeMetric(name, this.#metrics.get(name))).join("");
  }

  #ask<M extends Metric, L extends string>(
    options: MetricOptions<L>,
    type: abstract new (...args: never[]) => M,
    make: () => M,
  ): M {
    const known = this.#metrics.get(options.name);
    if (known === undefined) {
      assertName(options);
      const made = make();
      this.#metrics.set(options.name, made);
      return made;
    }
    if (!(known instanceof type) || known.labels.join() !== (options.labels ?? []).join()) {
      throw new Error(`metric ${options.name} is already registered as another type or with other labels`);
    }
    return known;
  }
}

export interface MetricDescription {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
}

export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

export interface MetricOptions<L extends string = never> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
}
export interface HistogramOptions<L extends string = never> extends MetricOptions<L> {
  /** Upper bounds, ascending; +Inf is added. */
  readonly buckets: readonly number[];
}
export type Labels<L extends string> = Readonly<Record<L, string>>;

type Metric = Counter<string> | Gauge<string> | Histogram<string>;

/** Upper bounds that grow by a factor, as Prometheus libraries name them. */
export const exponentialBuckets = (start: number, factor: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => start * factor ** index);

abstract class Series<L extends string, V> {
  readonly help: string;
  readonly labels: readonly L[];
  readonly values = new Map<string, V>();

  constructor(options: MetricOptions<L>) {
    this.help = options.help;
    this.labels = options.labels ?? [];
  }

  abstract readonly type: "counter" | "gauge" | "histogram";
  protected abstract empty(): V;

  protected at(labels: Labels<L>): V {
    const key = labelText(this.labels, labels);
    let value = this.values.get(key);
    if (value === undefined) {
      value = this.empty();
      this.values.set(key, value);
    }
    return value;
  }

  /** Forgets one combination of labels. */
  remove(labels: Labels<L>): void {
    this.values.delete(labelText(this.labels, labels));
  }

  clear(): void {
    this.values.clear();
  }
}

export interface Cell {
  value: number;
}
type NoLabels<L extends string> = [L] extends [never] ? [] : [labels: Labels<L>];

export class Counter<L extends string = never> extends Series<L, Cell> {
  override readonly type = "counter";
  protected override empty(): Cell {
    return { value: 0 };
  }
  inc(...labels: NoLabels<L>): void {
    this.add(1, ...labels);
  }
  add(amount: number, ...labels: NoLabels<L>): void {
    if (amount < 0) throw new RangeError("a counter never goes down");
    this.at(labels[0] ?? ({} as Labels<L>)).value += amount;
  }
  /** The cell of one combination of labels, for hot paths that cannot afford to build the label text each time. */
  cell(...labels: NoLabels<L>): Cell {
    return this.at(labels[0] ?? ({} as Labels<L>));
  }
  get(...labels: NoLabels<L>): number {
    return this.values.get(labelText(this.labels, labels[0] ?? ({} as Labels<L>)))?.value ?? 0;
  }
}

export class Gauge<L extends string = never> extends Series<L, Cell> {
  override readonly type = "gauge";
  protected override empty(): Cell {
    return { value: 0 };
  }
  set(value: number, ...labels: NoLabels<L>): void {
    this.at(labels[0] ?? ({} as Labels<L>)).value = value;
  }
  add(amount: number, ...labels: NoLabels<L>): void {
    this.at(labels[0] ?? ({} as Labels<L>)).value += amount;
  }
  get(...labels: NoLabels<L>): number {
    return this.values.get(labelText(this.labels, labels[0] ?? ({} as Labels<L>)))?.value ?? 0;
  }
}

/** One histogram series: counts per bucket (not cumulative until exposed), their sum and number. */
export class Distribution {
  readonly buckets: readonly number[];
  readonly counts: Float64Array;
  sum = 0;
  count = 0;

  constructor(buckets: readonly number[]) {
    this.buckets = buckets;
    this.counts = new Float64Array(buckets.length);
  }

  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    for (let index = 0; index < this.buckets.length; index++) {
      if (value <= (this.buckets[index] as number)) {
        this.counts[index] = (this.counts[index] ?? 0) + 1;
        return;
      }
    }
  }
}

export class Histogram<L extends string = never> extends Series<L, Distribution> {
  override readonly type = "histogram";
  readonly buckets: readonly number[];

  constructor(options: HistogramOptions<L>) {
    super(options);
    this.buckets = options.buckets;
  }
  protected override empty(): Distribution {
    return new Distribution(this.buckets);
  }
  observe(value: number, ...labels: NoLabels<L>): void {
    this.at(labels[0] ?? ({} as Labels<L>)).observe(value);
  }
  cell(...labels: NoLabels<L>): Distribution {
    return this.at(labels[0] ?? ({} as Labels<L>));
  }
}

function exposeMetric(name: string, metric: Metric | undefined): string {
  if (metric === undefined) return "";
  const lines = [`# HELP ${name} ${escapeHelp(metric.help)}`, `# TYPE ${name} ${metric.type}`];
  const series = [...metric.values.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [labels, value] of series) {
    if (value instanceof Distribution) lines.push(...exposeDistribution(name, labels, value));
    else lines.push(`${name}${braces(labels)} ${formatNumber(value.value)}`);
  }
  return `${lines.join("\n")}\n`;
}

function exposeDistribution(name: string, labels: string, value: Distribution): string[] {
  const separator = labels === "" ? "" : ",";
  let total = 0;
  const lines = value.buckets.map((bound, index) => {
    total += value.counts[index] ?? 0;
    return `${name}_bucket{${labels}${separator}le="${formatNumber(bound)}"} ${total}`;
  });
  lines.push(`${name}_bucket{${labels}${separator}le="+Inf"} ${value.count}`);
  lines.push(
    `${name}_sum${braces(labels)} ${formatNumber(value.sum)}`,
    `${name}_count${braces(labels)} ${value.count}`,
  );
  return lines;
}

const braces = (labels: string): string => (labels === "" ? "" : `{${labels}}`);

function labelText(names: readonly string[], labels: Readonly<Record<string, string>>): string {
  if (names.length === 0) return "";
  return names.map((name) => `${name}="${escapeLabel(labels[name] ?? "")}"`).join(",");
}

const escapeLabel = (value: string): string =>
  /[\\"\n]/.test(value) ? value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n") : value;
const escapeHelp = (value: string): string => value.replace(/\\/g, "\\\\").replace(/\n/g, "\\n");

function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

function assertName(options: MetricOptions<string>): void {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(options.name))
    throw new Error(`invalid metric name ${JSON.stringify(options.name)}`);
  for (const label of options.labels ?? []) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(label))
      throw new Error(`invalid label name ${JSON.stringify(label)} of ${options.name}`);
  }
}
