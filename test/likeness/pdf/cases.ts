/** An option set of pdftools and the equivalent arguments of pdftoppm. */
export interface PdfCase {
  readonly options: string;
  readonly theirs: readonly string[];
  /** pdftoppm shows media boxes unless told otherwise, pdftools crop boxes. */
  readonly mediaBox?: boolean;
  /** Why results may differ. */
  readonly reason?: string;
}

const SHAPES = 'PDFium and poppler smooth edges, scale images and substitute fonts differently';

/** Option sets. Each is tried with several documents, and the first, page 1 at 72 DPI, with all of them. */
export const PDF_CASES: readonly PdfCase[] = [
  { options: '-r=72', theirs: ['-r', '72'], reason: SHAPES },
  { options: '', theirs: [] },
  { options: '-r=100.5', theirs: ['-r', '100.5'] },
  { options: '-rx=50 -ry=100', theirs: ['-rx', '50', '-ry', '100'] },
  { options: '-scale-to=400', theirs: ['-scale-to', '400'] },
  { options: '-scale-to-x=300 -scale-to-y=-1', theirs: ['-scale-to-x', '300', '-scale-to-y', '-1'] },
  { options: '-scale-to-x=-1 -scale-to-y=300', theirs: ['-scale-to-x', '-1', '-scale-to-y', '300'] },
  { options: '-width=300 -height=300', theirs: ['-scale-to-x', '300', '-scale-to-y', '300'] },
  {
    options: '-r=72 -x=20 -y=30 -W=200 -H=100',
    theirs: ['-r', '72', '-x', '20', '-y', '30', '-W', '200', '-H', '100'],
  },
  { options: '-r=72 -gray', theirs: ['-r', '72', '-gray'] },
  {
    options: '-r=72 -mono',
    theirs: ['-r', '72', '-mono'],
    reason: 'greys are diffused, where poppler uses a pattern of dots',
  },
  { options: '-r=72 -cropbox=0', theirs: ['-r', '72'], mediaBox: true },
  { options: '-r=72 -hide-annotations', theirs: ['-r', '72', '-hide-annotations'] },
  { options: '-r=72 -f=2 -l=2', theirs: ['-r', '72', '-f', '2', '-l', '2'] },
];
