// Types of packages that have none, or wrong ones.

declare module '@img/colour' {
  interface ParsedColor {
    rgb(): { array(): number[] };
    alpha(): number;
  }
  /** Parses a CSS color. The package's own types describe another export than it has. */
  export default function color(css: string): ParsedColor;
}
