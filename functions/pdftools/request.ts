import type { Format, Limits } from '../shared/tool.ts';
import type { PdftoolsOptions } from './frame.ts';

/** What the tool asks of its engine process. */
export type PdftoolsRequest = {
  readonly path: string;
  readonly directory: string;
  readonly format: Format;
  readonly options: PdftoolsOptions;
  readonly limits: Limits;
} & (
  | { readonly kind: 'plan' }
  | { readonly kind: 'stack' }
  /** Each page is an event with its file. */
  | { readonly kind: 'pages'; readonly pages: readonly number[] }
);

export interface PlanReply {
  readonly pageCount: number;
  readonly pages: readonly number[];
}

export interface StackReply {
  readonly pageCount: number;
  readonly path: string;
}

/** An event: sent at the start, and after each page, so that the tool can tell work from a hang. */
export interface Progress {
  readonly page?: number;
  /** The page's file, where each page is one. */
  readonly path?: string;
}
