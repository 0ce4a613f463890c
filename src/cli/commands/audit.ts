import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { type AuditEntry, objectText } from "../../audit/entry.ts";
import { type AuditFilter, exportLine, hasTrail, lastEntries, readEntries } from "../../audit/read-trail.ts";
import { type AuditVerifier, auditSigner, auditVerifier } from "../../audit/signing-key.ts";
import { type VerifyOptions, verifyTrail } from "../../audit/verify.ts";
import { systemEnv } from "../../env/system.ts";
import type { Database } from "../../store/database.ts";
import { openPostgres } from "../../store/postgres-database.ts";
import { openSqlite } from "../../store/sqlite-database.ts";
import { StoreError } from "../../store/store-error.ts";
import { namespaceOption } from "../candidates.ts";
import { Failure, failClearly } from "../failure.ts";
import { type OutputFormat, oneLine, outputOption, render } from "../output.ts";
import { setting } from "../settings.ts";
import { formatTable } from "../table.ts";
import { whyUnreadable } from "../unreadable.ts";

interface StoreFlags {
  readonly dataDir: string;
  readonly databaseUrl?: string;
}
interface FilterFlags extends StoreFlags {
  readonly namespace?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly verb?: string;
  readonly actor?: string;
}
interface ListFlags extends FilterFlags {
  readonly limit: number;
  readonly output: OutputFormat;
}
interface VerifyFlags extends StoreFlags {
  readonly auditKey?: string;
  readonly expect?: VerifyOptions["expect"];
}

/** `capstan audit list|verify|export`: the trail and its proof. */
export function auditCommand(): Command {
  return new Command("audit")
    .description("Read the audit trail, prove that nobody has changed it, and export it.")
    .addCommand(listCommand())
    .addCommand(verifyCommand())
    .addCommand(exportCommand())
    .addHelpText(
      "after",
      "\nExamples:\n  capstan audit list -n shop-demo\n  capstan audit verify\n  capstan audit export > trail.jsonl\n",
    );
}

const withStoreFlags = (command: Command): Command =>
  command
    .addOption(setting("--data-dir <dir>", "data directory of `capstan up`").default(".capstan"))
    .addOption(setting("--database-url <url>", "the trail is in this PostgreSQL database instead"));

const withFilterFlags = (command: Command): Command =>
  withStoreFlags(command)
    .addOption(namespaceOption("-n, --namespace <namespace>", "only objects of this namespace"))
    .option("--kind <kind>", "only objects of this kind")
    .option("--name <name>", "only objects of this name")
    .option("--verb <verb>", "only this verb")
    .option("--actor <actor>", "only what this user or controller did");

const listCommand = (): Command =>
  withFilterFlags(new Command("list"))
    .description("Print the newest rows: time, actor, verb, object, result.")
    .addOption(new Option("--limit <count>", "how many rows").argParser(parseCount).default(100))
    .addOption(outputOption())
    .addHelpText(
      "after",
      "\nExamples:\n  capstan audit list -n shop-demo\n  capstan audit list --verb approve -o json\n",
    )
    .action((flags: ListFlags) => failClearly(() => withDatabase(flags, (database) => list(database, flags))));

const exportCommand = (): Command =>
  withFilterFlags(new Command("export"))
    .description("Print every row as one JSON object per line, hashes included.")
    .addHelpText("after", "\nExamples:\n  capstan audit export --database-url postgres://… > trail.jsonl\n")
    .action((flags: FilterFlags) =>
      failClearly(() =>
        withDatabase(flags, async (database) => {
          for await (const entry of readEntries(database, filterOf(flags))) await print(exportLine(entry));
        }),
      ),
    );

const verifyCommand = (): Command =>
  withStoreFlags(new Command("verify"))
    .description("Check every row, every signature and the end of the trail; say where it was tampered with.")
    .addOption(
      setting("--audit-key <file>", "PEM of the key, its public half suffices; <data-dir>/audit.key otherwise"),
    )
    .addOption(
      new Option("--expect <row:hash>", "a row and its hash that you noted earlier, elsewhere").argParser(
        parseExpected,
      ),
    )
    .addHelpText(
      "after",
      "\nExit codes: 0 the trail is whole, 2 it is not.\n\nExamples:\n  capstan audit verify\n  capstan audit verify --expect 120:5b41…\n",
    )
    .action((flags: VerifyFlags) => failClearly(() => withDatabase(flags, (database) => verify(database, flags))));

async function list(database: Database, flags: ListFlags): Promise<void> {
  const entries = await lastEntries(database, filterOf(flags), flags.limit);
  if (flags.output === "json") {
    for (const entry of entries) await print(exportLine(entry));
    return;
  }
  const value = entries.map((entry) => JSON.parse(exportLine(entry)) as unknown);
  const table = (isWide: boolean): string =>
    formatTable(
      ["TIME", "ACTOR", "VERB", "OBJECT", "RESULT", ...(isWide ? ["ROW", "UID"] : [])],
      entries.map((entry) => [...rowOf(entry), ...(isWide ? [String(entry.sequence), oneLine(entry.uid)] : [])]),
    );
  await print(render({ value, names: [...new Set(entries.map(objectText))], table }, flags.output));
}

const rowOf = ({ time, actor, verb, result, ...object }: AuditEntry): readonly string[] =>
  [time, actor, verb, objectText(object), result].map(oneLine);

async function verify(database: Database, flags: VerifyFlags): Promise<void> {
  const report = await verifyTrail(database, {
    verifiers: [readKey(flags)],
    ...(flags.expect && { expect: flags.expect }),
  });
  const { entries, first, last, lastHash, checkpoints, problems } = report;
  if (problems.length === 0) {
    const span = entries === 0 ? "no rows" : `rows ${first} to ${last}`;
    await print(`The trail is whole: ${span}, ${checkpoints} checkpoints.\nIts end: ${last}:${lastHash}\n`);
    return;
  }
  await print(`${problems.map(({ kind, message }) => `${kind}: ${message}`).join("\n")}\n`);
  process.exitCode = 2;
}

function readKey({ auditKey, dataDir, databaseUrl }: VerifyFlags): AuditVerifier {
  if (auditKey === undefined && databaseUrl !== undefined)
    throw new Failure("--audit-key is needed with --database-url: the PEM of the key that signed the trail");
  const file = auditKey ?? join(resolve(dataDir), "audit.key");
  try {
    const pem = readFileSync(file, "utf8");
    return pem.includes("PRIVATE KEY") ? auditSigner(pem) : auditVerifier(pem);
  } catch (error) {
    throw new Failure(`the audit key ${file} cannot be read: ${whyUnreadable(error)}`);
  }
}

async function withDatabase(flags: StoreFlags, work: (database: Database) => Promise<void>): Promise<void> {
  const database = await open(flags);
  try {
    if (!(await hasTrail(database))) throw new Failure("there is no audit trail in this database yet");
    await work(database);
  } finally {
    await database.close();
  }
}

async function open({ dataDir, databaseUrl }: StoreFlags): Promise<Database> {
  try {
    if (databaseUrl !== undefined) return await openPostgres({ env: systemEnv, url: databaseUrl });
    const file = join(resolve(dataDir), "capstan.db");
    if (!existsSync(file)) throw new Failure(`${file} is not there: has \`capstan up\` run with this --data-dir?`);
    return await openSqlite(file);
  } catch (error) {
    if (error instanceof StoreError) throw new Failure(error.message);
    throw error;
  }
}

function filterOf({ namespace, kind, name, verb, actor }: FilterFlags): AuditFilter {
  return {
    ...(namespace !== undefined && { namespace }),
    ...(kind !== undefined && { kind }),
    ...(name !== undefined && { name }),
    ...(verb !== undefined && { verb }),
    ...(actor !== undefined && { actor }),
  };
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 100_000)
    throw new InvalidArgumentError("A whole number from 1 to 100000.");
  return count;
}

function parseExpected(text: string): NonNullable<VerifyOptions["expect"]> {
  const parts = /^([0-9]{1,15}):([0-9a-f]{64})$/.exec(text);
  if (!parts)
    throw new InvalidArgumentError("A row and its hash, such as 120:5b41…, as `capstan audit verify` prints it.");
  return { sequence: Number(parts[1]), hash: parts[2] ?? "" };
}

/** A pipe that is read slowly must not make us hold the whole trail in memory. */
const print = (text: string): Promise<void> =>
  new Promise((done) => {
    if (process.stdout.write(text)) done();
    else process.stdout.once("drain", done);
  });
