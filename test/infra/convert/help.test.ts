import { describe, expect, it } from 'vitest';
import * as tools from '../../../functions/tools.ts';
import { describeOptions } from '../../../infra/convert/help.ts';

const ALL = Object.values(tools);

describe('the help for an option', () => {
  it('describes exactly the option with a name, for each tool that has it', () => {
    const text = describeOptions('-resize', ALL);

    expect([...text.matchAll(/^(\w+): (.*)$/gm)].map(([, tool, names]) => [tool, names])).toEqual([
      ['doc2any', '-resize'],
      ['html2image', '-resize'],
      ['imageproc', '-resize'],
      ['pdftools', '-resize'],
    ]);
    expect(text).toContain('Value: a geometry such as 800x600');
  });

  it('finds options by a word in their description', () => {
    const text = describeOptions('table of CONTENTS', ALL);

    expect(text).toMatch(/^html2pdf: --toc, toc\n {4}Start with a table of contents/m);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(100);
  });

  it('says that there is none', () => {
    expect(describeOptions('xyzzy', ALL)).toBe(
      "No option of a tool has 'xyzzy' in its name or description.\n",
    );
  });
});
