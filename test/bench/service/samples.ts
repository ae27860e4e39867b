import type { Bench } from '../rows/row.ts';
import type { Call } from './service.ts';

/** One typical call per tool of the service. */
export function sampleCalls({ inputs, urlOf }: Bench): Call[] {
  const file = (name: string) => urlOf(`${inputs.folder}/${name}`);
  return [
    { app: 'pdftools', infile: file('text-12.pdf'), outfile: 'page.jpg', options: { '-r': 72 } },
    { app: 'html2pdf', infile: file('note.html'), outfile: 'page.pdf' },
    { app: 'html2image', infile: file('note.html'), outfile: 'page.png' },
    { app: 'imageproc', infile: file('photo.jpg'), outfile: 'small.jpg', options: { '-resize': '400x300!' } },
    { app: 'doc2any', infile: file('letter.docx'), outfile: 'letter.pdf' },
  ];
}
