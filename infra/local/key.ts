// Makes one more API key for the one-machine deployment and shows it this once; a running service takes it at once.
import { join } from 'node:path';
import { createFileKeys } from '../../functions/shared/keys/file.ts';
import { readSettings } from './settings.ts';

const keys = createFileKeys(join(readSettings().dataDirectory, 'keys.json'));
process.stdout.write(`${await keys.create()}\n`);
