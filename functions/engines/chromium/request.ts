import type { Format } from '../../shared/formats.ts';
import type { ConversionLimits } from '../../shared/tool.ts';
import type { PageOptions } from './page-options.ts';

/** Options whose value is text or its URL, with their names in the query. */
export const TEXT_OPTIONS = {
  styleSheet: '--user-style-sheet',
  headerHtml: '--header-html',
  headerFirstHtml: '--header-first-html',
  headerEvenHtml: '--header-even-html',
  footerHtml: '--footer-html',
  footerFirstHtml: '--footer-first-html',
  footerEvenHtml: '--footer-even-html',
} as const;

export type TextOption = keyof typeof TEXT_OPTIONS;

/** A request to a browser worker, as JSON. */
export interface PageRequest<Options extends PageOptions = PageOptions> {
  /** Checked URL without user and password. */
  readonly url: string;
  readonly options: Options;
  /** Values of these options. */
  readonly texts: Readonly<Partial<Record<TextOption, string>>>;
  /** Files with the values of those that are given as URLs. The worker appends them to `texts`. */
  readonly textFiles: Readonly<Partial<Record<TextOption, string>>>;
  readonly format: Format;
  readonly limits: ConversionLimits;
  /** The conversion's own egress proxy on 127.0.0.1. */
  readonly proxyPort: number;
  /** The proxy for pictures of headers and footers. It also reaches the hosts of those that the caller named by URL. */
  readonly textProxyPort: number;
}

/** Name of a PDF to be drawn over the page. The page itself is `page.pdf`, `page.png` and so on. */
export const OVERLAY = 'overlay.pdf';
/** Name of a PDF with the text of a page that is in its pictures, invisible, to be put over the page. */
export const TEXT_LAYER = 'text-layer.pdf';

/** The response of a browser worker. */
export interface PageReply {
  /** Whether it wrote `OVERLAY`. */
  readonly hasOverlay?: true;
  /** Whether it wrote `TEXT_LAYER`. */
  readonly hasText?: boolean;
  /** Whether the page states its language. Otherwise Chromium writes its own into a PDF. */
  readonly hasLanguage?: boolean;
  /** Number of pages in the document. */
  readonly pageCount?: number;
  /** Sentences for the caller. */
  readonly warnings?: readonly string[];
  /** Whether the page stopped changing in time. */
  readonly settled: boolean;
}

/** The URL that could not be loaded. The proxy may know the reason. */
export interface PageFailure {
  readonly failed: string;
}
