import { tool as pdftools } from './pdftools/tool.ts';
import type { Tool } from './shared/tool.ts';

/** The tools, one line each: read by the router, the stack, the one-machine deployment and the README check. */
export const tools: readonly Tool[] = [pdftools];
