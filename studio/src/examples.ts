// Examples and carried scenarios, which the file has as data: text of JSON, or the same packed.
import type { Tables } from "./core/messages";
import { block, bytes, unpacked } from "./data";

/** A scenario with its tables; those as base64. */
export interface Carried { name: string; text: string; tables?: { name: string; file: string; requests: string; hosts?: { name: string; bytes: string } } }

export const examples: Carried[] = JSON.parse(block("examples") ?? "[]");

/** The scenario that `farweb studio SCENARIO` put into the file; null in a file as it was built. */
export async function carried(): Promise<Carried | null> {
  const packed = block("carried");
  return packed === undefined ? null : unpacked(packed).json();
}

export function tablesOf({ tables }: Carried): Tables | null {
  if (!tables) return null;
  const hosts = tables.hosts && { name: tables.hosts.name, bytes: bytes(tables.hosts.bytes) };
  return { name: tables.name, file: tables.file, requests: bytes(tables.requests), ...(hosts && { hosts }) };
}
