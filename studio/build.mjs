// The page, its worker, the core and the examples as one file that may connect to nothing: node build.mjs
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url)), root = dirname(here);

const bundled = async (entry, format) => {
  const built = await build({ entryPoints: [`${here}/src/${entry}`], bundle: true, minify: true, format, target: "es2022", jsx: "automatic", jsxImportSource: "preact", legalComments: "none", write: false, logLevel: "warning" });
  return built.outputFiles[0].text;
};

/** Examples with their tables in text. */
function examples() {
  const folder = `${root}/examples`, base64 = name => readFileSync(`${folder}/${name}`).toString("base64");
  const named = (text, key) => text.match(new RegExp(`^${key} *= *"([^"{}]+)"`, "m"))?.[1];
  return readdirSync(folder).filter(file => file.endsWith(".toml")).map(file => {
    const text = readFileSync(`${folder}/${file}`, "utf8"), tables = ["requests", "hosts"].map(key => named(text, key)).filter(Boolean);
    return { name: basename(file, ".toml"), text, tables: tables.map(name => ({ name, file: name, bytes: base64(name) })) };
  });
}

const hash = text => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
/** Data in a block of an HTML file: nothing in it ends the block. */
const json = tree => JSON.stringify(tree).replace(/</g, "\\u003c");

const [page, worker] = await Promise.all([bundled("main.tsx", "esm"), bundled("core/worker.ts", "iife")]);
if (/<\/script|<!--/i.test(page + worker)) throw new Error("a program ends the block that it stands in");
const style = readFileSync(`${here}/style.css`, "utf8");
// The worker is data until it becomes a blob, and a blob has the policy of its page.
const policy = `default-src 'none'; script-src ${hash(page)} blob: 'wasm-unsafe-eval'; worker-src blob:; style-src ${hash(style)}; img-src data: blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types farweb`;
const packed = content => gzipSync(content, { level: 9 }).toString("base64");
const core = readFileSync(`${root}/build/web/farweb_web_bg.wasm.gz`).toString("base64");
const notices = packed(["crates/farweb-py", "studio"].map(folder => readFileSync(`${root}/${folder}/THIRD-PARTY.txt`, "utf8")).join("\n"));
const parts = { POLICY: policy, STYLE: style, EXAMPLES: json(examples()), NOTICES: notices, WORKER: worker, CORE: core, PAGE: page };
const file = readFileSync(`${here}/index.html`, "utf8").replace(/\b(POLICY|STYLE|EXAMPLES|NOTICES|WORKER|CORE|PAGE)\b/g, name => parts[name]);
mkdirSync(`${here}/dist`, { recursive: true });
writeFileSync(`${here}/dist/studio.html`, file);
const kB = length => `${Math.round(length / 1000)} kB`;
console.log(`studio/dist/studio.html: ${kB(file.length)}, ${kB(gzipSync(file).length)} compressed`);
