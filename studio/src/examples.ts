// Examples and carried scenarios, which the file has as data: text of JSON, or the same packed.
import type { Table } from "./core/messages";
import { block, bytes, unpacked } from "./data";

interface Packed { name: string; file: string; bytes: string }
/** A scenario with its tables; those as base64. */
export interface Carried { name: string; text: string; tables?: Packed[]; example?: string }

export const examples = (JSON.parse(block("examples") ?? "[]") as Carried[]).map(each => ({ ...each, example: each.name }));

/** The scenario that `farweb studio SCENARIO` put into the file; null in a file as it was built. */
export async function carried(): Promise<Carried | null> {
  const packed = block("carried");
  return packed === undefined ? null : unpacked(packed).json();
}

/** The tables that come with a scenario. */
export const tablesOf = ({ tables = [], example }: Carried): Table[] =>
  tables.map(({ name, file, bytes: packed }) => ({ name, file, bytes: bytes(packed), ...(example && { example }) }));
