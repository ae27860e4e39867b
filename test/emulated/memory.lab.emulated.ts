import { beforeEach, describe, expect, it } from 'vitest';
import { filterMetrics, isBreached, readAlarms } from '../helpers/alarms.ts';
import { useEmulator } from './use-emulator.ts';

const { alarms, template } = readAlarms();

/** Lines of each log group, without the name of the function. */
const logs = new Map<string, string[]>();
const log = (text: string) => {
  const [, name = '', line = ''] = /^(\w+): (.*)$/s.exec(text) ?? [];
  logs.set(name, [...(logs.get(name) ?? []), line]);
};
beforeEach(() => logs.clear());

/** Names of the functions whose log lines raise the alarm about memory. */
function outOfMemory(): string[] {
  const alarm = alarms.get('OutOfMemory')!;
  return [...logs].flatMap(([name, lines]) =>
    isBreached(alarm, filterMetrics(template, name, lines)) ? [name] : [],
  );
}

describe('a page that needs more memory than the function has', () => {
  const used = useEmulator({ log });

  it('fails with html2pdf, which serves the next one', async () => {
    const { ask, urlOf, emulator } = used();
    const [app, outfile] = ['html2pdf', 'a.pdf'];
    const pool = emulator.functions.get(app)!;
    await ask({ app, infile: urlOf('a.html'), outfile });

    const hungry = await ask({ app, infile: urlOf('hungry.html'), outfile });
    const next = await ask({ app, infile: urlOf('next/a.html'), outfile });

    expect(hungry).toMatchObject({
      status: 422,
      body: expect.stringMatching(/memory.*\(CONVERSION_FAILED\)$/),
    });
    expect(next.status, next.body).toBe(200);
    // The function itself was not killed by its memory limit.
    expect(pool.started).toBe(1);
    expect(pool.memory).toBeLessThan(emulator.definitions.get(app)!.memory);
    expect(logs.get(app)!.filter((line) => line.startsWith('REPORT '))).toHaveLength(3);
    expect(outOfMemory()).toEqual([]);
  });
});

describe('a page that uses up the memory faster than the function can notice', () => {
  // The function takes its limit for a higher one than it has.
  const used = useEmulator({ variables: { html2image: { AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '10240' } }, log });

  it('ends the function, raises the alarm, and the next conversion works', async () => {
    const { ask, urlOf, emulator } = used();

    const hungry = await ask({ app: 'html2image', infile: urlOf('hungry.html'), outfile: 'a.png' });
    const raisedBy = outOfMemory();
    const next = await ask({ app: 'html2image', infile: urlOf('a.html'), outfile: 'a.png' });

    expect(hungry.status).toBeGreaterThanOrEqual(400);
    expect(hungry.headers.get('x-error-code')).toMatch(/^[A-Z_]+$/);
    expect(emulator.functions.get('html2image')!.started).toBeGreaterThan(1);
    expect(raisedBy).toEqual(['html2image']);
    expect(next.status, next.body).toBe(200);
  });
});
