import { describe, expect, it } from 'vitest';
import { NAMES, useSite } from './use-site.ts';

const { convertDropped, checkWholePage, runProgramsOf } = await useSite();

describe.each(NAMES)('the pages about %s', (name) => {
  it('convert a file that is dropped', async () => {
    expect(await convertDropped(name)).toMatch(/^Done/);
  });

  it('have no accessibility violations in light or dark, and fit a phone', async () => {
    await checkWholePage(`/docs/${name}`);
  });

  it('show programs that print the URL of the result', async () => {
    await runProgramsOf(name);
  });
});
