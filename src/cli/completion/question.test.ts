import assert from "node:assert/strict";
import { test } from "node:test";
import { Argument, Command, Option } from "commander";
import { asking, type Supplier } from "./asking.ts";
import { questionOf } from "./question.ts";

const supplier =
  (name: string): Supplier =>
  async ({ words, flags }) => [name, ...words, JSON.stringify(flags)];

const program = new Command("capstan")
  .addCommand(
    new Command("explain")
      .addArgument(new Argument("<kind>"))
      .addArgument(asking(new Argument("<name>"), supplier("name")))
      .addOption(asking(new Option("-n, --namespace <namespace>"), supplier("namespace")))
      .option("-o, --output <format>")
      .addOption(new Option("--data-dir <dir>").env("DIR"))
      .option("--loud"),
  )
  .addCommand(
    new Command("audit").addCommand(new Command("list").addArgument(asking(new Argument("[row]"), supplier("row")))),
  );

const cases: readonly { readonly typed: readonly string[]; readonly asks: string }[] = [
  { typed: ["explain", ""], asks: "" },
  { typed: ["explain", "world", ""], asks: "name world {}" },
  { typed: ["explain", "world", "sto"], asks: "name world {}" },
  { typed: ["explain", "world", "stormy", ""], asks: "" },
  { typed: ["explain", "-n", ""], asks: "namespace {}" },
  { typed: ["explain", "world", "--namespace", "an"], asks: "namespace world {}" },
  { typed: ["explain", "world", "--namespace=an"], asks: "namespace world {}" },
  { typed: ["explain", "world", "--namespace", "=", "an"], asks: "namespace world {}" },
  { typed: ["explain", "world", "--namespace", "="], asks: "namespace world {}" },
  { typed: ["explain", "-n", "a", "world", ""], asks: 'name world {"namespace":"a"}' },
  { typed: ["explain", "--loud", "world", "--data-dir", "d", ""], asks: 'name world {"dataDir":"d"}' },
  { typed: ["explain", "world", "--data-dir=d", "s"], asks: 'name world {"dataDir":"d"}' },
  { typed: ["explain", "world", "-o", ""], asks: "" },
  { typed: ["explain", "world", "--na"], asks: "" },
  { typed: ["audit", "list", ""], asks: "row {}" },
  { typed: ["audit", ""], asks: "" },
  { typed: ["nothing", "such", ""], asks: "" },
  { typed: [], asks: "" },
];
test("flags that are not typed come from the environment", async () => {
  const question = questionOf(program, ["explain", "world", ""], { DIR: "elsewhere" });
  assert.deepEqual(question?.typed.flags, { dataDir: "elsewhere" });
});

for (const { typed, asks } of cases)
  test(`capstan ${typed.join(" ")}| asks ${asks === "" ? "nobody" : `for a ${asks}`}`, async () => {
    const question = questionOf(program, typed);
    assert.equal((await question?.supplier(question.typed))?.join(" ") ?? "", asks);
  });
