import { EXTENT } from './functions/extent.ts';

// Each option in every format, each reference of a document to every kind of file, each coder of ImageMagick, and
// browsers that are slow to start.
EXTENT.isWhole = true;
for (const tool of ['doc2any', 'html2image', 'html2pdf', 'imageproc', 'pdftools'])
  await import(`./functions/${tool}/convert.option-effects.engine.test.ts`);
await import('./functions/doc2any/convert.leaks.engine.test.ts');
await import('./functions/engines/imagemagick/magick.engine.test.ts');
await import('./functions/engines/chromium/browser/browser.engine.test.ts');
