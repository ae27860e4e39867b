import { readOutput, writeOutput } from '../engines/chromium/output.ts';
import { readWrittenPdf } from './written-pdf.ts';

/** Maximum length of an image's dictionary. */
const DICTIONARY = 400;

/**
 * Replaces the ICC profile of images in a PDF that Chromium has written with a device color space. The profile is
 * sRGB, and qpdf does not recompress images with a profile.
 */
export async function useDeviceColors(path: string): Promise<void> {
  const pdf = await readOutput(path);
  const written = readWrittenPdf(pdf);
  for (const offset of written?.offsets ?? []) {
    if (offset === undefined) continue;
    const head = pdf.toString('latin1', offset, offset + DICTIONARY).split('>> stream', 1)[0]!;
    const [space = '', profile] = /\[\/ICCBased (\d+) 0 R\]/.exec(head) ?? [];
    if (!profile || !head.includes('/Subtype /Image')) continue;
    const isGray = /\/N 1\b/.test(written!.object(Number(profile)).slice(0, DICTIONARY));
    // Padded to the same length, so that no offset changes.
    const device = (isGray ? '/DeviceGray' : '/DeviceRGB').padEnd(space.length);
    pdf.write(device, offset + head.indexOf(space), 'latin1');
  }
  await writeOutput(path, pdf);
}
