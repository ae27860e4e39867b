import { expect, it } from 'vitest';
import { readRequest } from '../../../functions/conversion/request.ts';
import type { Format } from '../../../functions/shared/formats.ts';
import { defaultsOf, readOptions } from '../../../functions/shared/options/read-options.ts';
import type { Tool } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';

/** Returns the error message for a query with these parameters. */
function refusal(app: string, outfile: string, options: string): string {
  const query = new URLSearchParams(`infile=https://example.com/a&outfile=${outfile}&app=${app}&${options}`);
  const pairs = [...query].map(([name, value]) => ({ name, value }));
  try {
    readRequest(pairs, Object.values(tools));
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return 'accepted';
}

it.each([
  ['pdftools', 'a.png', '-pages=1&-f=2', "Parameter '-pages' cannot be combined with '-f' or '-l'."],
  ['pdftools', 'a.png', '-f=3&-l=2', "Parameter '-f' (3) must not be greater than '-l' (2)."],
  ['pdftools', 'a.jpg', '-transp', "Parameter '-transp': JPEG does not support transparency."],
  ['html2pdf', 'a.pdf', '--page-ranges=1&-f=2', "Parameter '--page-ranges' cannot be combined with"],
  [
    'html2pdf',
    'a.pdf',
    '-T=150&-B=150',
    "Parameters '--margin-top' (150 mm) and '--margin-bottom' (150 mm) must leave",
  ],
  ['html2image', 'a.jpg', '--transparent', "Parameter '--transparent': JPEG does not support transparency."],
  [
    'html2image',
    'a.png',
    '--width=1024&--crop-x=1024',
    "Parameter '--crop-x' must be less than the width of the image",
  ],
  ['imageproc', 'a.png', '-colorspace=CMYK', "Parameter '-colorspace' must not be CMYK for png output"],
  ['html2pdf', 'a.pdf', '--encrypt=a&--owner-password=a', "Parameter '--owner-password' must differ from"],
  ['doc2any', 'a.pdf', '--encrypt=a&--owner-password=a', "Parameter '--owner-password' must differ from"],
  ['doc2any', 'a.pdf', '--pages=1&-l=2', "Parameter '--pages' cannot be combined with '-f' or '-l'."],
  ['doc2any', 'a.pdf', '--notes&-f=2', "Parameter '--notes' cannot be combined with '-f', '-l' or '--pages'"],
])('%s refuses %s with %s before anything is downloaded', (app, outfile, options, message) => {
  expect(refusal(app, outfile, options)).toContain(message);
});

it.each([
  ['pdftools', 'a.png', '-f=3&-l=0'],
  ['pdftools', 'a.png', '-transp'],
  ['html2pdf', 'a.pdf', '-T=150&-B=150&--page-height=auto'],
  ['html2image', 'a.png', '--width=1024&--crop-x=1024&--zoom=2'],
  ['html2image', 'a.png', '--width=1024&--crop-x=1024&--selector=table'],
  ['imageproc', 'a.tiff', '-colorspace=CMYK'],
  ['imageproc', 'a.png', '-colorspace=CMYK&-negate&-colorspace=sRGB'],
  ['doc2any', 'a.png', '--notes&-f=2'],
  ['html2pdf', 'a.pdf', '--encrypt=a&--owner-password=b'],
])('%s accepts %s with %s', (app, outfile, options) => {
  expect(refusal(app, outfile, options)).toBe('accepted');
});

it('reports rules between options together with every other mistake', () => {
  const message = refusal('pdftools', 'a.jpg', '-transp&-pages=1&-f=2&-r=x&-widht=5');

  for (const part of ["'-widht'", "'-r' must be", "'-pages' cannot be combined", "'-transp'"]) {
    expect(message).toContain(part);
  }
});

it('reports every operator of imageproc that is invalid', () => {
  const message = refusal('imageproc', 'a.png', '-resize=wide&-rotate=x&-blur=y');

  for (const name of ['-resize', '-rotate', '-blur']) expect(message).toContain(`'${name}'`);
});

it('bounds the number of documents to append', () => {
  const options = '&-append=https://example.com/b'.repeat(51);

  expect(refusal('pdftools', 'a.pdf', options)).toContain('at most 50 times, got 51');
});

it('says why a format is not written, and what to do instead of a refused option', () => {
  expect(refusal('pdftools', 'a.docx', '')).toContain('no paragraphs or tables that could be edited');
  expect(refusal('html2pdf', 'a.pdf', '--enable-local-file-access')).toContain('-F infile=@page.html');
});

it('applies no rule of a format that the tool does not write', () => {
  expect(refusal('imageproc', 'a.docx', '-colorspace=CMYK')).not.toContain('-colorspace');
});

/** Reads options of doc2any for a format. */
const readDoc2any = (options: string, format: Format) => {
  const given = [...new URLSearchParams(options)].map(([name, value]) => ({ name, value }));
  return readOptions(tools.doc2any, given, format);
};

it('gives the engine the default of an option that has no effect on the output', () => {
  const { options, ignored } = readDoc2any('--notes&--watermark-color=%23ff0000&--quality=20', 'docx');

  expect(ignored).toEqual(['--notes', '--watermark-color', '--quality']);
  expect(options).toEqual(defaultsOf(tools.doc2any.options));
});

it.each([
  ['--encrypt=a', 'jpg', "Parameter '--encrypt' has no effect on jpg output."],
  ['--no-copy', 'png', "Parameter '--no-copy' has no effect on png output."],
  ['-f=2', 'docx', "Parameter '-f' has no effect on docx output."],
] as const)('rejects %s for %s, because the caller relies on it', (option, format, message) => {
  expect(readDoc2any(option, format).issues.map((issue) => issue.message)).toEqual([message]);
});

it('names only options of the same tool as those that another one needs', () => {
  for (const { name, options } of Object.values<Tool>(tools)) {
    const missing = Object.values(options).flatMap((option) =>
      (option.with ?? []).filter((key) => !Object.hasOwn(options, key)),
    );
    expect([name, missing]).toEqual([name, []]);
  }
});
