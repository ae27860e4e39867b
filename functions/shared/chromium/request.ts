import type { Format, Limits } from '../tool.ts';
import type { PageOptions } from './page-options.ts';

/** Options whose value is text, or the URL of it. */
export const TEXT_OPTIONS = ['styleSheet', 'headerHtml', 'footerHtml'] as const;

export type TextOption = (typeof TEXT_OPTIONS)[number];

/** What the tool asks of a browser process: plain JSON. */
export interface PageRequest<Options extends PageOptions = PageOptions> {
  /** Checked, without user and password. */
  readonly url: string;
  readonly options: Options;
  /** Text of the caller's options that are text or its URL. */
  readonly texts: Readonly<Partial<Record<TextOption, string>>>;
  readonly format: Format;
  /** Where outputs go. */
  readonly directory: string;
  readonly limits: Limits;
  /** The conversion's own egress proxy on 127.0.0.1. */
  readonly proxyPort: number;
}

/** What a browser process answers. */
export interface PageReply {
  readonly path: string;
  /** Pages of a document. */
  readonly pageCount?: number;
  /** Whether the page looked still before its time ran out. */
  readonly settled: boolean;
}

/** Sent ahead of an error: the address that could not be loaded, for the proxy may know better why. */
export interface PageFailure {
  readonly failed: string;
}
