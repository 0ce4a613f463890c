/** Masterminds/semver itself as a peer: says of each row whether the version satisfies the constraint. */
import { execFileSync } from "node:child_process";
import { buildGoPeer } from "./go-peer.ts";

export const mastermindsVersion = "v3.5.0";

const program = `package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/Masterminds/semver/v3"
)

type row struct {
	Constraint        string
	Version           string
	IncludePrerelease bool
}

func answer(r row) string {
	constraint, refusedConstraint := semver.NewConstraint(r.Constraint)
	version, refusedVersion := semver.NewVersion(r.Version)
	if refusedConstraint != nil {
		return "constraint refused"
	}
	if refusedVersion != nil {
		return "version refused"
	}
	constraint.IncludePrerelease = r.IncludePrerelease
	return fmt.Sprint(constraint.Check(version))
}

func main() {
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(make([]byte, 1024*1024), 16*1024*1024)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for scanner.Scan() {
		var r row
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil {
			panic(err)
		}
		fmt.Fprintln(out, answer(r))
	}
}
`;

export interface SemVerRow {
  readonly constraint: string;
  readonly version: string;
  readonly includePrerelease: boolean;
}

/** One answer for each row, or why there is no peer. */
export function askMasterminds(rows: readonly SemVerRow[]): readonly string[] | string {
  const requires = `github.com/Masterminds/semver/v3 ${mastermindsVersion}`;
  const binary = buildGoPeer({ name: "semver", program, requires });
  if (!binary.startsWith("/")) return binary;
  const input = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  return execFileSync(binary, { input, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })
    .trimEnd()
    .split("\n");
}
