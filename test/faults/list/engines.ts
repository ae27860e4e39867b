import { inFile } from '../list.ts';

/** Faults in how each tool maps its options to its engines, and in how sources are recognized. */
export const engines = [
  ...inFile(
    'functions/html2image/capture.ts',
    [['cropLeft / zoom', 'cropLeft']],
    'test/functions/html2image/',
  ),
  ...inFile(
    'functions/html2image/capture.ts',
    [
      [
        "kind === 'png' ? { optimizeForSpeed: true } : { quality }",
        "kind === 'png' ? { optimizeForSpeed: true } : { quality: Math.max(quality, 90) }",
      ],
    ],
    'test/functions/html2image/',
  ),
  ...inFile(
    'functions/html2image/screenshot.ts',
    [
      [
        'options.smartWidth ?? options.width === undefined',
        'options.smartWidth !== undefined || options.width === undefined',
      ],
      ['  if (options.transparent) {', '  if (!options.transparent) {'],
    ],
    'test/functions/html2image/',
  ),
  ...inFile(
    'functions/html2pdf/paper.ts',
    [['top: isFixed(marginTop),', 'top: isFixed(marginBottom),']],
    'test/functions/html2pdf/convert.paper',
  ),
  ...inFile('functions/html2pdf/running-text.ts', [
    [
      "const inner = edge === 'header' ? 'bottom' : 'top';",
      "const inner = edge === 'header' ? 'top' : 'bottom';",
    ],
  ]),
  ...inFile('functions/html2pdf/print-to-file.ts', [
    ['Math.max(1, fromStart(range.first))', 'fromStart(range.first)'],
  ]),
  ...inFile(
    'functions/html2pdf/print-page.ts',
    [
      ['marginTop: top / INCH', 'marginTop: bottom / INCH'],
      [
        'options.outline ? headings : [], options.grayscale',
        'options.outline ? headings : [], options.lowQuality',
      ],
    ],
    'test/functions/html2pdf/convert.',
  ),
  ...inFile(
    'functions/html2pdf/tool.ts',
    [
      [
        'encryptionOf(options, permissionsOf(options))',
        'encryptionOf(options, permissionsOf(options) && undefined)',
      ],
    ],
    'test/functions/html2pdf/convert.file',
  ),
  ...inFile(
    'functions/html2pdf/options.ts',
    [['page.origin === cover.origin ? {} :', 'page.origin !== cover.origin ? {} :']],
    'test/functions/html2pdf/convert.',
  ),
  ...inFile(
    'functions/engines/chromium/page/prepare.ts',
    [
      [
        'URL.parse(request.url)?.origin === origin',
        'URL.parse(request.url)?.hostname === new URL(origin).hostname',
      ],
      ['value: withoutPath(name, value)', 'value: name === withoutPath(name, value) ? name : value'],
    ],
    'test/functions/engines/chromium/page/',
    'test/functions/html2image/convert.',
    'test/service/tools',
  ),
  ...inFile(
    'functions/engines/chromium/page/visit.ts',
    [['{ display: none !important }', '{ display: none }']],
    'test/functions/html2pdf/convert.options',
  ),
  ...inFile(
    'functions/engines/chromium/page/wait/conditions.ts',
    [
      [
        'if (javascriptDelay) await sleep(javascriptDelay);',
        'if (javascriptDelay) void sleep(javascriptDelay);',
      ],
    ],
    'test/functions/html2pdf/convert.engine',
  ),
  ...inFile(
    'functions/engines/pdf/drawing.ts',
    [
      [
        'Math.min(options.cropWidth || page.width, page.width - left)',
        'options.cropWidth || page.width - left',
      ],
    ],
    'test/functions/pdftools/',
  ),
  ...inFile(
    'functions/engines/pdf/pdf-engine.ts',
    [
      ['annotations: !hideAnnotations', 'annotations: hideAnnotations'],
      ['[options.userPassword, options.ownerPassword]', '[options.userPassword]'],
    ],
    'test/functions/pdftools/',
  ),
  ...inFile(
    'functions/engines/pdf/rewrite.ts',
    [["if (isWhole && delivery === 'one')", "if (!isWhole && delivery === 'one')"]],
    'test/functions/pdftools/',
    'test/service/calls',
  ),
  ...inFile(
    'functions/engines/pdf/qpdf.ts',
    [
      [
        "ownerPassword || randomBytes(16).toString('hex')",
        'ownerPassword || (randomBytes(16) && userPassword)',
      ],
      ["from: '1', repeat: '1'", "from: '1'"],
    ],
    'test/functions/engines/pdf/qpdf',
  ),
  ...inFile(
    'functions/engines/pdf/pdfium.ts',
    [['turns: drawing.rotate / 90', 'turns: 0']],
    'test/functions/pdftools/',
  ),
  ...inFile(
    'functions/imageproc/convert.ts',
    [['options.frame >= count', 'options.frame > count']],
    'test/functions/imageproc/',
  ),
  ...inFile(
    'functions/imageproc/encode/encode.ts',
    [['options.quality || QUALITY', 'QUALITY || options.quality']],
    'test/functions/imageproc/encode/',
    'test/functions/imageproc/',
  ),
  ...inFile(
    'functions/imageproc/operators/placement.ts',
    [
      [
        "if (edge === 'end') return whole - part - offset;",
        "if (edge === 'end') return whole - part + offset;",
      ],
    ],
    'test/functions/imageproc/convert.',
  ),
  ...inFile(
    'functions/imageproc/source/decode.ts',
    [
      ['checkSourcePixels(width, height, limits.pixels);', 'checkSourcePixels(width, 1, limits.pixels);'],
      ['return frame <= primary ? frame - 1 : frame;', 'return frame;'],
    ],
    'test/functions/imageproc/source/',
  ),
  ...inFile(
    'functions/engines/office/filter-options.ts',
    [["outputEncoding === 'utf-8-bom'", "outputEncoding === 'utf-8'"]],
    'test/functions/doc2any/',
  ),
  ...inFile(
    'functions/engines/office/options.ts',
    [
      ['WatermarkRotateAngle: degrees * 10', 'WatermarkRotateAngle: degrees'],
      ['({ ExportHiddenSlides: on })', '({ ExportHiddenSlides: !on })'],
    ],
    'test/functions/doc2any/convert.pdf-options',
    'test/functions/doc2any/',
  ),
  ...inFile(
    'functions/doc2any/convert.ts',
    [['slides[page - 1] ?? page', 'slides[page] ?? page']],
    'test/functions/doc2any/convert.',
  ),
  ...inFile(
    'functions/engines/office/office.ts',
    [["password === undefined && filter === 'pdf'", "filter === 'pdf'"]],
    'test/functions/doc2any/convert.',
  ),
  ...inFile('functions/engines/office/detect/archive.ts', [
    ['if (left < 0) throw tooLargeError(EXPANDS);', ''],
  ]),
  ...inFile('functions/engines/office/word/line-grid.ts', [
    ['paragraph.cell && !snapsInTables', 'paragraph.cell && snapsInTables'],
  ]),
];
