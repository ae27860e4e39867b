import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type AppProps } from 'aws-cdk-lib';
import { afterAll } from 'vitest';

const temporary = mkdtempSync(join(tmpdir(), 'stacks-'));
afterAll(() => rmSync(temporary, { recursive: true }));

/** Creates an app whose output is deleted after the tests of the file that imports this. */
export function createApp(properties: AppProps = {}): App {
  return new App({ outdir: mkdtempSync(join(temporary, 'stack-')), ...properties });
}
