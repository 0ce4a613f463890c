import { createInflateRaw, type InflateRaw } from "node:zlib";

/**
 * Reads chosen files out of a jar while it passes by, without keeping it. Sizes in a jar's headers are often missing, so
 * the end of an entry is where its compression says that it ends.
 */
export class JarReader {
  readonly #wanted: ReadonlySet<string>;
  readonly files = new Map<string, Uint8Array>();
  #pending: Buffer = Buffer.alloc(0);
  #state: State = { kind: "Header" };
  #inflatedBytes = 0;

  constructor(wanted: readonly string[]) {
    this.#wanted = new Set(wanted);
  }

  /** Whether more of the jar could still say anything. */
  get isDone(): boolean {
    return this.#state.kind === "Done" || this.files.size === this.#wanted.size;
  }

  async push(chunk: Uint8Array): Promise<void> {
    if (this.isDone) return;
    this.#pending = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk]);
    while (!this.isDone && (await this.#step()));
    if (this.isDone) this.close();
  }

  close(): void {
    if (this.#state.kind === "Inflating") this.#state.entry.close();
    this.#state = { kind: "Done" };
    this.#pending = Buffer.alloc(0);
  }

  /** Whether there was enough to go on. */
  async #step(): Promise<boolean> {
    switch (this.#state.kind) {
      case "Header":
        return this.#readHeader();
      case "Stored":
        return this.#readStored(this.#state);
      case "Inflating":
        return this.#inflate(this.#state);
      case "Descriptor":
        return this.#skipDescriptor();
      case "Done":
        return false;
    }
  }

  #readHeader(): boolean {
    if (this.#pending.length < 30) return false;
    if (this.#pending.readUInt32LE(0) !== localHeader) {
      // The list of contents begins, or this is no jar.
      this.#state = { kind: "Done" };
      return true;
    }
    const nameLength = this.#pending.readUInt16LE(26);
    const start = 30 + nameLength + this.#pending.readUInt16LE(28);
    if (this.#pending.length < start) return false;
    const flags = this.#pending.readUInt16LE(6);
    const method = this.#pending.readUInt16LE(8);
    const size = this.#pending.readUInt32LE(18);
    const name = this.#pending.subarray(30, 30 + nameLength).toString("utf8");
    const hasDescriptor = (flags & 8) !== 0;
    const isEncrypted = (flags & 1) !== 0;
    this.#pending = this.#pending.subarray(start);
    const isWanted = this.#wanted.has(name);
    if (method === 8 && !isEncrypted)
      this.#state = { kind: "Inflating", name, hasDescriptor, entry: new Entry(isWanted ? maxFileBytes : 0) };
    else if (!hasDescriptor)
      this.#state = { kind: "Stored", name, left: size, parts: [], isWanted: isWanted && method === 0 };
    else this.#state = { kind: "Done" };
    return true;
  }

  #readStored(state: Stored): boolean {
    const part = this.#pending.subarray(0, state.left);
    if (part.length === 0 && state.left > 0) return false;
    this.#pending = this.#pending.subarray(part.length);
    state.left -= part.length;
    const kept = state.parts.reduce((sum, one) => sum + one.length, 0);
    if (state.isWanted && kept + part.length <= maxFileBytes) state.parts.push(Buffer.from(part));
    if (state.left > 0) return this.#pending.length > 0;
    if (state.isWanted) this.files.set(state.name, Buffer.concat(state.parts));
    this.#state = { kind: "Header" };
    return true;
  }

  async #inflate(state: Inflating): Promise<boolean> {
    if (this.#pending.length === 0) return false;
    const used = await state.entry.write(this.#pending);
    this.#inflatedBytes += this.#pending.length;
    if (state.entry.inflated > maxInflatedBytes || this.#inflatedBytes > maxInflatedBytes) {
      this.close();
      return false;
    }
    if (used === undefined) {
      this.#pending = Buffer.alloc(0);
      return false;
    }
    this.#pending = this.#pending.subarray(used);
    if (this.#wanted.has(state.name)) this.files.set(state.name, state.entry.content());
    this.#state = state.hasDescriptor ? { kind: "Descriptor" } : { kind: "Header" };
    return true;
  }

  /** Its length depends on who wrote it, so the next header is looked for. */
  #skipDescriptor(): boolean {
    if (this.#pending.length < maxDescriptorBytes + 4) return false;
    for (let at = 12; at <= maxDescriptorBytes; at += 4) {
      const signature = this.#pending.readUInt32LE(at);
      if (signature !== localHeader && signature !== centralHeader) continue;
      this.#pending = this.#pending.subarray(at);
      this.#state = { kind: "Header" };
      return true;
    }
    this.#state = { kind: "Done" };
    return true;
  }
}

const localHeader = 0x04034b50;
const centralHeader = 0x02014b50;
const maxDescriptorBytes = 24;
const maxFileBytes = 1024 * 1024;
const maxInflatedBytes = 1024 * 1024 * 1024;

interface Stored {
  readonly kind: "Stored";
  readonly name: string;
  readonly parts: Uint8Array[];
  readonly isWanted: boolean;
  left: number;
}
interface Inflating {
  readonly kind: "Inflating";
  readonly name: string;
  readonly hasDescriptor: boolean;
  readonly entry: Entry;
}
type State =
  | { readonly kind: "Header" }
  | { readonly kind: "Descriptor" }
  | { readonly kind: "Done" }
  | Stored
  | Inflating;

/** One compressed entry. Only as much of its content is kept as anybody wants. */
class Entry {
  readonly #inflate: InflateRaw = createInflateRaw();
  readonly #parts: Uint8Array[] = [];
  readonly #keep: number;
  #kept = 0;
  #fed = 0;
  #ended = false;
  #error: Error | undefined;
  inflated = 0;

  constructor(keep: number) {
    this.#keep = keep;
    this.#inflate.on("data", (part: Buffer) => {
      this.inflated += part.length;
      if (this.#kept + part.length > this.#keep) return;
      this.#kept += part.length;
      this.#parts.push(part);
    });
    this.#inflate.on("end", () => {
      this.#ended = true;
    });
    this.#inflate.on("error", (error) => {
      this.#error = error;
    });
  }

  /** How many of these bytes belong to the entry, once it has ended; undefined while it goes on. */
  async write(bytes: Buffer): Promise<number | undefined> {
    const before = this.#fed;
    this.#fed += bytes.length;
    await new Promise<void>((resolve) => {
      const settle = (): void => resolve();
      this.#inflate.once("end", settle);
      this.#inflate.once("error", settle);
      this.#inflate.write(bytes, () => {
        this.#inflate.off("end", settle);
        this.#inflate.off("error", settle);
        // The end of the entry is told one turn later.
        setImmediate(settle);
      });
    });
    if (this.#error) throw this.#error;
    if (!this.#ended && this.#inflate.bytesWritten >= this.#fed) return undefined;
    const used = this.#inflate.bytesWritten - before;
    this.close();
    return used;
  }

  content(): Uint8Array {
    return Buffer.concat(this.#parts);
  }

  close(): void {
    this.#inflate.destroy();
  }
}
