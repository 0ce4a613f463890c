/** OPA's Go library on the same cases: a small program, built once into a cache folder and then reused. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

export const opaVersion = "v1.22.0";

const program = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

type benchCase struct {
	Name   string
	File   string
	Source string
	Query  string
	Data   map[string]interface{}
	Inputs []interface{}
}

type result struct {
	Name    string  \`json:"name"\`
	P50Ns   int64   \`json:"p50Ns"\`
	P99Ns   int64   \`json:"p99Ns"\`
	ColdNs  int64   \`json:"coldNs"\`
	Answers []string \`json:"answers"\`
}

func prepare(c benchCase) rego.PreparedEvalQuery {
	query, err := rego.New(rego.Query(c.Query), rego.Module(c.File, c.Source), rego.Store(inmem.NewFromObject(c.Data))).PrepareForEval(context.Background())
	if err != nil {
		panic(err)
	}
	return query
}

func main() {
	var cases []benchCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	ctx := context.Background()
	results := []result{}
	for _, c := range cases {
		colds := []int64{}
		for i := 0; i < 20; i++ {
			start := time.Now()
			prepare(c)
			colds = append(colds, time.Since(start).Nanoseconds())
		}
		query := prepare(c)
		eval := func(i int) rego.ResultSet {
			rs, err := query.Eval(ctx, rego.EvalInput(c.Inputs[i%len(c.Inputs)]))
			if err != nil {
				panic(err)
			}
			return rs
		}
		for i := 0; i < 3000; i++ {
			eval(i)
		}
		times := make([]int64, 0, 10000)
		for i := 0; i < 10000; i++ {
			start := time.Now()
			eval(i)
			times = append(times, time.Since(start).Nanoseconds())
		}
		sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
		sort.Slice(colds, func(a, b int) bool { return colds[a] < colds[b] })
		answers := []string{}
		for i := range c.Inputs {
			rs := eval(i)
			text := "undefined"
			if len(rs) > 0 {
				bs, _ := json.Marshal(rs[0].Expressions[0].Value)
				text = string(bs)
			}
			answers = append(answers, text)
		}
		results = append(results, result{c.Name, times[len(times)/2], times[len(times)*99/100], colds[len(colds)/2], answers})
	}
	bs, _ := json.Marshal(results)
	fmt.Println(string(bs))
}
`;

export interface OpaResult {
  readonly name: string;
  readonly p50Ns: number;
  readonly p99Ns: number;
  readonly coldNs: number;
  readonly answers: readonly string[];
}

/** Undefined where there is no Go or the module cannot be fetched; the reason is printed. */
export function measureOpaInProcess(cases: readonly object[]): readonly OpaResult[] | undefined {
  const binary = buildProgram();
  if (binary === undefined) return undefined;
  const output = execFileSync(binary, { input: JSON.stringify(cases), encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(output) as OpaResult[];
}

/** Where built helpers are kept between runs; never inside the project. */
export const cacheFolder = join(homedir(), ".cache", "capstan-opa");

function buildProgram(): string | undefined {
  const hash = createHash("sha256")
    .update(program + opaVersion)
    .digest("hex")
    .slice(0, 12);
  const binary = join(cacheFolder, `bench-${hash}`);
  if (existsSync(binary)) return binary;
  const folder = mkdtempSync(join(tmpdir(), "capstan-opa-bench-"));
  try {
    mkdirSync(cacheFolder, { recursive: true });
    writeFileSync(join(folder, "main.go"), program);
    writeFileSync(
      join(folder, "go.mod"),
      `module bench\n\ngo 1.25\n\nrequire github.com/open-policy-agent/opa ${opaVersion}\n`,
    );
    const go = (...args: readonly string[]): void => {
      execFileSync("nice", ["-n", "15", "go", ...args], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    };
    go("mod", "tidy");
    go("build", "-p", "1", "-o", join(folder, "bench"), ".");
    renameSync(join(folder, "bench"), binary);
    return binary;
  } catch (error) {
    console.log(`OPA in process is left out: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
