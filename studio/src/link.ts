// A scenario in the fragment of an address: packed text, and nothing that a server sees.

/** Longest text that a link may hold, unpacked, in bytes. */
const LONGEST = 65_536;
const KEY = "#s=", OF = "&example=";

const through = (bytes: Uint8Array<ArrayBuffer>, pipe: CompressionStream | DecompressionStream) => new Blob([bytes]).stream().pipeThrough(pipe);

/** A fragment for a text, and for the example whose tables belong to it. */
export async function packed(text: string, example?: string): Promise<string> {
  const bytes = new Uint8Array(await new Response(through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"))).arrayBuffer());
  const letters = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
  return KEY + btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "") + (example ? `${OF}${example}` : "");
}

/** The text in a fragment and its example; null where there is none. Throws where it is damaged or too long. */
export async function linked(fragment: string): Promise<{ text: string; example?: string } | null> {
  if (!fragment.startsWith(KEY)) return null;
  const [letters = "", example] = fragment.slice(KEY.length).split(OF);
  const wrong = (why: string) => new Error(`this link ${why}; nothing of it was taken`);
  const reader = (() => {
    try {
      const bytes = atob(letters.replace(/-/g, "+").replace(/_/g, "/"));
      return through(Uint8Array.from(bytes, letter => letter.charCodeAt(0)), new DecompressionStream("deflate-raw")).getReader();
    } catch {
      throw wrong("is damaged");
    }
  })();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw wrong("is damaged"); });
    if (done) break;
    chunks.push(value as Uint8Array<ArrayBuffer>);
    length += value.length;
    if (length > LONGEST) {
      reader.cancel().catch(() => {});
      throw wrong(`holds more than ${LONGEST / 1024} KiB of text`);
    }
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(await new Blob(chunks).arrayBuffer()), ...(example && { example }) };
  } catch {
    throw wrong("is damaged");
  }
}
