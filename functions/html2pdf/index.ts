import { createToolHandler } from '../platform/aws/lambda/tool-handler.ts';
import { createEngine } from './convert.ts';
import { html2pdf } from './tool.ts';

/** Lambda entry. */
export const handler = await createToolHandler(html2pdf, createEngine);
