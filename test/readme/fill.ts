import { tables } from './tables.ts';

/** Puts the tables made from the code into a README: each between `<!-- table: NAME -->` and `<!-- end -->`. */
export function fill(readme: string): string {
  return readme.replace(
    /(<!-- table: (\S+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      const made = tables().get(name);
      if (made === undefined) throw new Error(`The README asks for a table ${name}, which there is not.`);
      return `${start}\n${made}\n\n${end}`;
    },
  );
}
