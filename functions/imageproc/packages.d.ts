// Types of packages that have none, or wrong ones.

declare module '@img/colour' {
  interface ParsedColor {
    rgb(): { array(): number[] };
    alpha(): number;
  }
  /** Parses a CSS color. The package's own types describe another export than it has. */
  export default function color(css: string): ParsedColor;
}

declare module 'libheif-js/wasm-bundle.js' {
  export interface HeifImage {
    get_width(): number;
    get_height(): number;
    has_alpha_channel(): boolean;
    is_primary(): boolean;
    /** Calls back with `null` if the image cannot be decoded. */
    display(
      target: { data: Uint8ClampedArray; width: number; height: number },
      done: (result: object | null) => void,
    ): void;
    free(): void;
  }
  const heif: { readonly HeifDecoder: new () => { decode(bytes: Buffer): HeifImage[] } };
  export default heif;
}
