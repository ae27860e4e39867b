// Types of packages whose own types are missing or wrong.

declare module '@img/colour' {
  interface ParsedColor {
    rgb(): { array(): number[] };
    alpha(): number;
  }
  /** Parses a CSS color. The package's own types describe a different export. */
  export default function color(css: string): ParsedColor;
}
