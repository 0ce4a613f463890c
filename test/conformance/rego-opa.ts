/** OPA itself as a peer: a small Go program around its library that answers one JSON line per question. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { buildGoPeer } from "./go-peer.ts";

export const opaVersion = "v1.22.0";

const program = `package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"
)

type question struct {
	Modules []string
	Query   string
	Input   json.RawMessage
	Data    json.RawMessage
	V0      bool
	Strict  bool
	CompileStrict bool
	NoIndex bool
}

type answer struct {
	Results []map[string]interface{} \`json:"results,omitempty"\`
	Code    string \`json:"code,omitempty"\`
	Codes   []string \`json:"codes,omitempty"\`
	Message string \`json:"message,omitempty"\`
}

func fail(err error) answer {
	switch e := err.(type) {
	case ast.Errors:
		if len(e) > 0 {
			codes := []string{}
			for _, each := range e {
				codes = append(codes, each.Code)
			}
			return answer{Code: e[0].Code, Codes: codes, Message: err.Error()}
		}
	case *topdown.Error:
		return answer{Code: e.Code, Message: err.Error()}
	case rego.Errors:
		if len(e) > 0 {
			return fail(e[0])
		}
	}
	return answer{Code: "error", Message: err.Error()}
}

func ask(q question) (result answer) {
	defer func() {
		if r := recover(); r != nil {
			result = answer{Code: "panic", Message: fmt.Sprint(r)}
		}
	}()
	version := ast.RegoV1
	if q.V0 {
		version = ast.RegoV0
	}
	modules := map[string]*ast.Module{}
	for i, source := range q.Modules {
		name := fmt.Sprintf("test-%d.rego", i)
		module, err := ast.ParseModuleWithOpts(name, source, ast.ParserOptions{RegoVersion: version, ProcessAnnotation: true})
		if err != nil {
			return fail(err)
		}
		modules[name] = module
	}
	compiler := ast.NewCompiler().WithDefaultRegoVersion(version).WithStrict(q.CompileStrict)
	compiler.Compile(modules)
	if compiler.Failed() {
		return fail(compiler.Errors)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	data := map[string]interface{}{}
	if len(q.Data) > 0 {
		if err := util.UnmarshalJSON(q.Data, &data); err != nil {
			return fail(err)
		}
	}
	options := []func(*rego.Rego){rego.Compiler(compiler), rego.Query(q.Query), rego.Store(inmem.NewFromObject(data)), rego.StrictBuiltinErrors(q.Strict), rego.SetRegoVersion(version)}
	evalOptions := []rego.EvalOption{}
	if q.NoIndex {
		evalOptions = append(evalOptions, rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false))
	}
	if len(q.Input) > 0 {
		var input interface{}
		if err := util.UnmarshalJSON(q.Input, &input); err != nil {
			return fail(err)
		}
		evalOptions = append(evalOptions, rego.EvalInput(input))
	}
	query, err := rego.New(options...).PrepareForEval(ctx)
	if err != nil {
		return fail(err)
	}
	rs, err := query.Eval(ctx, evalOptions...)
	if err != nil {
		return fail(err)
	}
	result.Results = []map[string]interface{}{}
	for _, r := range rs {
		result.Results = append(result.Results, r.Bindings)
	}
	return result
}

func main() {
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(make([]byte, 1024*1024), 64*1024*1024)
	out := bufio.NewWriter(os.Stdout)
	for scanner.Scan() {
		var q question
		decoder := json.NewDecoder(bytes.NewReader(scanner.Bytes()))
		if err := decoder.Decode(&q); err != nil {
			panic(err)
		}
		bs, err := json.Marshal(ask(q))
		if err != nil {
			bs, _ = json.Marshal(answer{Code: "error", Message: err.Error()})
		}
		out.Write(bs)
		out.WriteByte('\\n')
		out.Flush()
	}
}
`;

export interface OpaQuestion {
  readonly Modules: readonly string[];
  readonly Query: string;
  readonly Input?: unknown;
  readonly Data?: unknown;
  readonly V0?: boolean;
  readonly Strict?: boolean;
  readonly CompileStrict?: boolean;
  /** Without leaving out rules by the index, and without ending a search early. */
  readonly NoIndex?: boolean;
}

export interface OpaAnswer {
  readonly results?: readonly { readonly [name: string]: unknown }[];
  readonly code?: string;
  /** Of every error that was reported, in the order of the report. */
  readonly codes?: readonly string[];
  readonly message?: string;
  /** The answer as it came, for comparisons without loss of digits. */
  readonly line: string;
}

export interface OpaPeer {
  ask(question: OpaQuestion): Promise<OpaAnswer>;
  close(): void;
}

/** The reason why there is no peer, as a string. */
export function startOpaPeer(): OpaPeer | string {
  const binary = buildGoPeer({ name: "opa", program, requires: `github.com/open-policy-agent/opa ${opaVersion}` });
  if (!binary.startsWith("/")) return binary;
  const child = spawn(binary, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting: ((answer: OpaAnswer) => void)[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    waiting.shift()?.({ ...(JSON.parse(line) as Omit<OpaAnswer, "line">), line });
  });
  return {
    ask: (question) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        child.stdin.write(`${JSON.stringify(question)}\n`);
      }),
    close: () => {
      child.stdin.end();
      child.kill("SIGTERM");
    },
  };
}
