// What comes of a dropped file, and files that go out.
import { TABLE, fromDisk, quoted } from "./names";
import { keep, notice, open, take } from "./state";

/** Longest beginning of a scenario that is read, in bytes: one more than the core takes, so that it says so itself. */
const SCENARIO_READ = 1_000_001;
/** Largest table that a tab reads, in bytes. Chosen: a million requests; the rows take twice as much. */
const TABLE_MAX = 64 * 2 ** 20;

/** Why a tab does not read a file; null where it does. */
async function refusal(file: File): Promise<string | null> {
  const { name } = file, head = await file.slice(0, 4096).text();
  if (/\.har$/i.test(name) || /^\uFEFF?\s*\{\s*"log"/.test(head)) return `${name} is a recorded page. To load it over other paths: farweb page ${quoted(name)}`;
  if (isScenario(file)) return null;
  if (/\.parquet$/i.test(name)) return `${name}: ${fromDisk(name)}`;
  if (!TABLE.test(name)) return `${name} is no scenario (.toml) and no request table (.csv, .tsv). Of a log, farweb makes both: farweb new link.toml --log ${quoted(name)} && farweb studio link.toml`;
  if (file.size > TABLE_MAX) return `${name} has more than ${TABLE_MAX / 2 ** 20} MiB: too large for a tab. Save the scenario, and farweb run takes it.`;
  return null;
}

const isScenario = ({ name }: File) => /\.toml$/i.test(name);

/** Takes files: a scenario with the tables beside it, or tables for the scenario at hand. */
export async function openFiles(files: File[]): Promise<void> {
  const refused = await Promise.all(files.map(refusal)), read = files.filter((_, place) => refused[place] === null);
  const [scenario, ...others] = read.filter(isScenario);
  const tables = await Promise.all(read.filter(file => !isScenario(file)).map(async file => ({ name: file.name, file: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })));
  if (scenario) {
    keep(tables);
    await open({ name: scenario.name, text: await scenario.slice(0, SCENARIO_READ).text() });
  } else if (tables.length) await take(tables);
  const said = [...refused.filter(why => why !== null), ...others.map(({ name }) => `${name} is another scenario: drop it alone.`)];
  if (said.length) notice.value = said.join(" ");
}

export function save(name: string, content: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Puts a text on the clipboard; where that is not allowed, the page shows it to be copied. */
export async function copy(what: string, content: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(content);
    notice.value = `Copied: ${what}.`;
  } catch {
    notice.value = `To be copied by hand: ${content}`;
  }
}
