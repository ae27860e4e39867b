import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** Where our scripts and packages lie on this machine; the settings of the packages tell Node how to read the scripts. */
export const CODE = ['functions', 'node_modules', 'package.json'].map((name) => join(ROOT, name));
