// What a container of the tests runs in place of `capstan`: each argument is one step.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const steps = {
  say: (text) => console.log(text),
  complain: (text) => console.error(text),
  env: (name) => console.log(`${name}=${process.env[name] ?? ""}`),
  cat: (file) => console.log(readFileSync(file, "utf8")),
  result: (text) => writeFileSync(process.env.CAPSTAN_RESULT, text),
  touch: (file) => writeFileSync(file, ""),
  exit: (code) => process.exit(Number(code)),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Number(ms))),
  child: () => {
    const child = spawn("sleep", ["300"], { stdio: "inherit" });
    console.log(`child ${child.pid}`);
  },
  stubborn: () => process.on("SIGTERM", () => console.log("no")),
};

for (const step of process.argv.slice(2)) {
  const [name, ...rest] = step.split(":");
  await steps[name](rest.join(":"));
}
