import { option, type Scope } from '../../shared/options/option.ts';

/** Pixels per unit of length, for each axis. */
export interface Resolution {
  readonly x: number;
  readonly y: number;
}

/** Reads a resolution such as `300` or `204x98`. */
export function resolution(name: string, options: Scope & { readonly description: string }) {
  const parse = (value: string): Resolution | undefined => {
    const match = /^(\d{1,4}(?:\.\d+)?)(?:x(\d{1,4}(?:\.\d+)?))?$/i.exec(value);
    const x = Number(match?.[1]);
    const y = Number(match?.[2] ?? x);
    return x >= 1 && y >= 1 ? { x, y } : undefined;
  };
  return option(name, 'a number from 1 to 9999, or two such as 204x98', parse, options);
}
