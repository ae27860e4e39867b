import { afterAll, beforeAll, expect } from 'vitest';
import { openService, type ServiceUnderTest } from '../lab/service.ts';
import { type Source, type SourceServer, serveSources } from '../lab/sources.ts';
import { Client } from './client.ts';

export interface Used {
  readonly client: Client;
  readonly service: ServiceUnderTest;
  readonly sources: SourceServer;
  /** The service's log so far. Empty for a service that the test did not start. */
  log(): string;
}

/** Opens a service and its sources for the tests of a file. Afterwards, none of its processes may be left. */
export function useService(
  files: () => Readonly<Record<string, Source>> | Promise<Readonly<Record<string, Source>>>,
  settings: Readonly<Record<string, string>> = {},
): () => Used {
  let used: Used | undefined;
  let log = '';

  beforeAll(async () => {
    const sources = await serveSources(await files());
    const service = await openService({ sources: [sources.host], settings, log: (text) => (log += text) });
    used = { client: new Client(service), service, sources, log: () => log };
  });
  afterAll(async () => {
    used?.sources.close();
    expect(await used?.service.close()).toEqual([]);
  });
  return () => used!;
}
