import { createToolHandler } from '../platform/aws/lambda/tool-handler.ts';
import { createEngine } from './convert.ts';
import { html2image } from './tool.ts';

/** Lambda entry. */
export const handler = await createToolHandler(html2image, createEngine);
