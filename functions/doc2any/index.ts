import { createToolHandler } from '../platform/aws/lambda/tool-handler.ts';
import { createEngine } from './convert.ts';
import { doc2any } from './tool.ts';

/** Lambda entry. */
export const handler = await createToolHandler(doc2any, createEngine);
