import type { ServiceTarget } from "./service.ts";

/**
 * A target as the directory keeps it: by its JSON, because services are looked up far more often than they change, and by
 * what it is found by. The JSON is in two parts, for nobody shares who and where it is, and almost everybody what it is.
 * The rest is read from there by the few who ask: a million targets take less room than as objects, and no time to write.
 */
export class KeptTarget implements ServiceTarget {
  readonly id: string;
  readonly serviceName: string;
  readonly kind: TargetKind;
  #head: string;

  private constructor({ id, serviceName, host, port, ...rest }: ServiceTarget) {
    this.id = id;
    this.serviceName = serviceName;
    this.kind = kindOf(rest);
    this.#head = flat(JSON.stringify({ id, serviceName, host, port }).slice(0, -1));
  }

  static of(target: ServiceTarget): KeptTarget {
    return target instanceof KeptTarget ? target : new KeptTarget(target);
  }

  /** The beginning of its JSON, up to where its kind's begins. */
  get head(): string {
    return this.#head;
  }

  /** The same head as a part of a text that is kept anyway; or, without one, as a text of its own again. */
  moveHead(text?: string, at = 0): void {
    this.#head = text === undefined ? flat(this.#head) : text.slice(at, at + this.#head.length);
  }

  /** All nine keys, in the specification's order. */
  get json(): string {
    return this.head + this.kind.json;
  }

  get host(): string {
    return this.#place().host;
  }
  get port(): number {
    return this.#place().port;
  }
  get serviceType(): string | null {
    return this.kind.serviceType;
  }
  get serviceSubType(): string | null {
    return this.kind.serviceSubType;
  }
  get languageName(): string | null {
    return this.kind.languageName;
  }
  get languageType(): string | null {
    return this.kind.languageType;
  }
  get languageSubType(): string | null {
    return this.kind.languageSubType;
  }

  equals(target: ServiceTarget): boolean {
    if (target === this) return true;
    const other = KeptTarget.of(target);
    return other.head === this.head && other.kind.json === this.kind.json;
  }

  toJSON(): ServiceTarget {
    return JSON.parse(this.json) as ServiceTarget;
  }

  #place(): Pick<ServiceTarget, "host" | "port"> {
    return JSON.parse(`${this.head}}`) as ServiceTarget;
  }
}

/** What a service is; the same object for all that are the same. */
export interface TargetKind extends Omit<ServiceTarget, "id" | "serviceName" | "host" | "port"> {
  /** The end of a target's JSON. */
  readonly json: string;
}

const kinds = new Map<string, TargetKind>();
/** Strangers may make up any number of kinds; those that are not remembered are only not shared. */
const maxKinds = 1_000;

function kindOf(given: Omit<TargetKind, "json">): TargetKind {
  const { serviceType, serviceSubType, languageName, languageType, languageSubType } = given;
  const fields = { serviceType, serviceSubType, languageName, languageType, languageSubType };
  const json = `,${JSON.stringify(fields).slice(1)}`;
  const known = kinds.get(json);
  if (known !== undefined) return known;
  if (kinds.size >= maxKinds) kinds.clear();
  const kind: TargetKind = { ...fields, json: flat(json) };
  kinds.set(kind.json, kind);
  return kind;
}

/** A part of a text keeps the whole of it, and a joined one all that it was joined of; through bytes it is one of its own. */
export const flat = (text: string): string => Buffer.from(text).toString();
