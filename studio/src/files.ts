// What comes of a dropped file, and files that go out.
import { notice, open, take } from "./state";

/** Longest beginning of a scenario that is read, in bytes: one more than the core takes, so that it says so itself. */
const SCENARIO_READ = 1_000_001;
/** Largest table that a tab reads, in bytes. Chosen: a million requests; the rows take twice as much. */
const TABLE_MAX = 64 * 2 ** 20;

/** A name as a shell takes it. */
const quoted = (name: string) => /^[\w.+-]+$/.test(name) ? name : `'${name.replace(/'/g, "'\\''")}'`;

export async function openFile(file: File): Promise<void> {
  const { name } = file, head = await file.slice(0, 4096).text();
  if (/\.har$/i.test(name) || /^\uFEFF?\s*\{\s*"log"/.test(head)) {
    notice.value = `${name} is a recorded page. To load it over other paths: farweb page ${quoted(name)}`;
  } else if (/\.toml$/i.test(name)) {
    await open({ name, text: await file.slice(0, SCENARIO_READ).text() });
  } else if (!/\.(csv|tsv)(\.gz)?$/i.test(name)) {
    notice.value = `${name} is no scenario (.toml) and no request table (.csv, .tsv). Of a log, farweb makes both: farweb new link.toml --log ${quoted(name)} && farweb studio link.toml`;
  } else if (file.size > TABLE_MAX) {
    notice.value = `${name} has more than ${TABLE_MAX / 2 ** 20} MiB: too large for a tab. Save the scenario, and farweb run takes it.`;
  } else {
    await take({ name, file: name, requests: new Uint8Array(await file.arrayBuffer()) });
  }
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
