import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** The service's scripts and packages on this machine. `package.json` tells Node that the scripts are ES modules. */
export const CODE = ['functions', 'node_modules', 'package.json'].map((name) => join(ROOT, name));
