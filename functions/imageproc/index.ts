import { createToolHandler } from '../platform/aws/lambda/tool-handler.ts';
import { createEngine } from './convert.ts';
import { imageproc } from './tool.ts';

/** Lambda entry. */
export const handler = await createToolHandler(imageproc, createEngine);
