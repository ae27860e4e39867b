import { afterAll, beforeAll, expect } from 'vitest';
import { Client } from './client.ts';
import { openService, type ServiceUnderTest } from './service.ts';
import { type Source, type SourceServer, serveSources } from './sources.ts';

export interface Used {
  readonly client: Client;
  readonly service: ServiceUnderTest;
  readonly sources: SourceServer;
  /** What the service wrote to its log so far; nothing for a service that is not our own. */
  log(): string;
}

/** Opens a service and its sources for the tests of a file; afterwards no process of it may be left. */
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
