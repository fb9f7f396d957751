// Blocks of data in the file: text, or packed bytes in letters.

/** The text of a block; undefined where the file has none of this name. */
export const block = (id: string): string | undefined => document.getElementById(id)?.textContent ?? undefined;

export const bytes = (letters: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(letters), letter => letter.charCodeAt(0));

/** What packed bytes in letters hold. */
export const unpacked = (letters: string): Response =>
  new Response(new Blob([bytes(letters)]).stream().pipeThrough(new DecompressionStream("gzip")));
