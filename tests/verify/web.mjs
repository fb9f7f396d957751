// Asks the browser binding in Node: node web.mjs PACKAGE, with questions as JSON lines on standard input, an answer a line.
//   {"check": TEXT}                                      what `check` says
//   {"tables": {"name", "file", "hosts"?}}               {} or {"error"}: a request table and its host table are read
//   {"run": TEXT, "tables"?: …}                          {"progress", "rows": {table: {column: digest}}} or {"error"}
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { initSync, check, Run, Tables } = await import(pathToFileURL(`${folder}/farweb_web.js`));
globalThis.farwebPanicked = message => { throw new Error(`the core panicked: ${message}`); };
initSync({ module: readFileSync(`${folder}/farweb_web_bg.wasm`) });

const EVENTS = 40_000;

function opened(tables) {
  if (!tables) return Tables.none();
  const { name, file, hosts } = tables;
  return new Tables(name, readFileSync(file), hosts?.name ?? "", hosts && readFileSync(hosts.file));
}

// Numbers as the page has them, then words; one NaN stands for all.
function digest(run, table, column) {
  const hash = createHash("sha256"), numbers = run.numbers(table, column).map(value => value);
  hash.update(new Uint8Array(numbers.buffer));
  run.words(table, column).forEach(word => hash.update(`${word}\n`));
  return hash.digest("hex");
}

function rows(text, tables) {
  const run = new Run(text, tables);
  while (run.advance(EVENTS));
  const columns = Object.entries(JSON.parse(run.columns()));
  const found = columns.map(([table, columns]) => [table, Object.fromEntries(columns.map(column => [column, digest(run, table, column)]))]);
  const answer = { progress: JSON.parse(run.progress()), rows: Object.fromEntries(found) };
  run.free();
  return answer;
}

function answer(question) {
  try {
    const tables = opened(question.tables);
    const found = "check" in question ? JSON.parse(check(question.check, tables)) : "run" in question ? rows(question.run, tables) : {};
    tables.free();
    return found;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
    return { error: error.message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
}
