import { afterAll } from 'vitest';
import { serveSources } from '../lab/sources.ts';
import { allowPorts } from './conversion.ts';

/** Serves files to shared engines, and returns the URL of each. */
export async function serveFiles(files: Readonly<Record<string, Buffer>>): Promise<(name: string) => string> {
  const { port, close, urlOf } = await serveSources(files);
  afterAll(close);
  allowPorts(port);
  return urlOf;
}
