/** OPA's Go library on the same cases: a small program, built once into a cache folder and then reused. */
import { execFileSync } from "node:child_process";
import { build, versions } from "./built.ts";
import type { BenchCase } from "./cases.ts";
import type { PeerResult } from "./peer.ts";

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

/** Undefined where there is no Go or the module cannot be fetched; the reason is printed. */
export function measureOpaInProcess(cases: readonly BenchCase[]): readonly PeerResult[] | undefined {
  const binary = build({
    name: "opa-in-process",
    files: {
      "main.go": program,
      "go.mod": `module bench\n\ngo 1.25\n\nrequire github.com/open-policy-agent/opa ${versions.opa}\n`,
    },
    commands: [
      ["go", "mod", "tidy"],
      ["go", "build", "-p", "1", "-o", "bench", "."],
    ],
    result: "bench",
  });
  if (binary === undefined) return undefined;
  const output = execFileSync(binary, { input: JSON.stringify(cases), encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(output) as PeerResult[];
}
