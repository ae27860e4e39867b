import { describe, expect, it } from 'vitest';
import { missingEnds } from '../../../../../functions/engines/office/detect/language.ts';

const missing = (text: string) => missingEnds(Buffer.from(text, 'latin1'));

describe('an RTF file', () => {
  it.for([
    ['{\\rtf1 text}', ''],
    ['{\\rtf1 text}\r\n\0\0', ''],
    ['{\\rtf1 {\\b bold} {\\field{\\*\\fldinst {HYPER', '}}}}'],
    ['{\\rtf1 an escaped \\{ and \\} and \\\\', '}'],
    ['{\\rtf1 {\\bin5 }}}}} text}', '}'],
    ['{\\rtf1 {\\bin5}}}}} text', '}}'],
    ['{\\rtf1 {\\bin99 cut', '}}'],
    ['{\\rtf1 \\', '}'],
  ])('%j lacks %j', ([text, ends]) => {
    expect(missing(text!)).toBe(ends);
  });

  it('with endlessly nested groups is rejected', () => {
    expect(() => missing(`{\\rtf1 ${'{'.repeat(1_000_000)}`)).toThrow('nested too deeply');
  });
});
