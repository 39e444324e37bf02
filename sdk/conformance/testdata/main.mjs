// Reads jobs, one a line, and writes their outcomes, one a line.
import process from "node:process";
import { createInterface } from "node:readline";
import { run } from "./run.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await run(JSON.parse(line))) + "\n");
}
