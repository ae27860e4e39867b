/** An option set of pdftools and the equivalent arguments of pdftoppm. */
export interface PdfCase {
  readonly options: string;
  readonly theirs: readonly string[];
  /** Kind of result. The default is pages as images. Text is compared with pdftotext, PDFs as pdftoppm draws both. */
  readonly format?: 'txt' | 'pdf';
  /** pdftoppm shows media boxes unless told otherwise, pdftools crop boxes. */
  readonly mediaBox?: boolean;
  /** Why results differ from pdftoppm's. */
  readonly reason?: string;
}

const SHAPES = 'PDFium and poppler smooth edges, scale images and substitute fonts differently';

const AXES =
  'small letters differ, and pdftoppm takes the axes of a rotated page for those of the unrotated one, and adds a row or column if its arithmetic is slightly above whole pixels';

/** Option sets. `blank.pdf` is an empty page. Each is tried with several documents, and the first, page 1 at 72 DPI, with all of them. */
export const PDF_CASES: readonly PdfCase[] = [
  { options: '-r=72', theirs: ['-r', '72'], reason: SHAPES },
  { options: '', theirs: [], reason: SHAPES },
  { options: '-r=100.5', theirs: ['-r', '100.5'] },
  { options: '-rx=50 -ry=100', theirs: ['-rx', '50', '-ry', '100'], reason: AXES },
  { options: '-scale-to=400', theirs: ['-scale-to', '400'], reason: SHAPES },
  {
    options: '-scale-to-x=300 -scale-to-y=-1',
    theirs: ['-scale-to-x', '300', '-scale-to-y', '-1'],
    reason: AXES,
  },
  {
    options: '-scale-to-x=-1 -scale-to-y=300',
    theirs: ['-scale-to-x', '-1', '-scale-to-y', '300'],
    reason: AXES,
  },
  { options: '-width=300 -height=300', reason: SHAPES, theirs: ['-scale-to-x', '300', '-scale-to-y', '300'] },
  {
    options: '-r=72 -x=20 -y=30 -W=200 -H=100',
    theirs: ['-r', '72', '-x', '20', '-y', '30', '-W', '200', '-H', '100'],
    reason: SHAPES,
  },
  { options: '-r=72 -gray', theirs: ['-r', '72', '-gray'] },
  {
    options: '-r=72 -mono',
    theirs: ['-r', '72', '-mono'],
    reason: 'grays are diffused, where poppler uses a pattern of dots',
  },
  { options: '-r=72 -cropbox=0', theirs: ['-r', '72'], mediaBox: true },
  { options: '-r=72 -hide-annotations', theirs: ['-r', '72', '-hide-annotations'] },
  { options: '-r=72 -f=2 -l=2', theirs: ['-r', '72', '-f', '2', '-l', '2'] },
  // With -e or -o only one of the two pages is left. pdftoppm is given that page.
  { options: '-r=72 -f=1 -l=2 -e', theirs: ['-r', '72', '-f', '2', '-l', '2'] },
  { options: '-r=72 -f=1 -l=2 -o', theirs: ['-r', '72', '-f', '1', '-l', '1'] },
  {
    options: '-f=1 -l=3',
    format: 'txt',
    theirs: ['-f', '1', '-l', '3'],
    reason: 'words are divided in other places where a document has no spaces',
  },
  { options: '', format: 'pdf', theirs: ['-r', '72'] },
  { options: '-append=blank.pdf', format: 'pdf', theirs: ['-r', '72'] },
  { options: '-append=blank.pdf -number=%p -number-pages=2', format: 'pdf', theirs: ['-r', '72'] },
  { options: '-stamp=blank.pdf -underlay=blank.pdf', format: 'pdf', theirs: ['-r', '72'] },
  { options: '-f=2 -l=2', format: 'pdf', theirs: ['-r', '72', '-f', '2', '-l', '2'] },
];

/** The label of a case in lists. */
export function nameOf({ options, format }: PdfCase): string {
  return [format && `outfile=….${format}`, options].filter(Boolean).join(' ');
}
