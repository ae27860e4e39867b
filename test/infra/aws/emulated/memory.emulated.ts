import { expect, it } from 'vitest';
import { useEmulator } from './use-emulator.ts';

const used = useEmulator();

it.each([
  ['html2image', 'a.png'],
  ['html2pdf', 'a.pdf'],
])(
  '%s fails a page that needs more memory than the function has, and serves the next one',
  async (app, outfile) => {
    const { ask, urlOf, emulator } = used();
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
  },
);
