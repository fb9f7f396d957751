// Names of files: those that a tab reads, and commands for the others.

export const TABLE = /\.(csv|tsv)(\.gz)?$/i;

/** A name without its folders. */
export const fileOf = (name: string): string => name.replace(/^.*[\\/]/, "");

/** A name as a shell takes it. */
export const quoted = (name: string): string => /^[\w.+-]+$/.test(name) ? name : `'${name.replace(/'/g, "'\\''")}'`;

/** How a table that no tab reads comes into one: by the scenario that names it. */
export const fromDisk = (table: string): string =>
  `a tab reads no such table, and a file of its scenario has it inside: farweb studio ${quoted(table.replace(/(-requests|-hosts)?\.\w+$/, ".toml"))}`;
