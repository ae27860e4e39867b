import { fileURLToPath } from 'node:url';

/** Folder of the engines on this machine. */
export const LAYERS = fileURLToPath(new URL('../../../dist/layers', import.meta.url));
