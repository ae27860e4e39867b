/** A set of options as in a query, with `_` for a space, and what it is compared with. */
export interface ImageCase {
  readonly options: string;
  /** Arguments for ImageMagick if they are different. */
  readonly theirs?: string;
  /** Why results may differ. */
  readonly reason?: string;
}

const same = (...all: readonly string[]): ImageCase[] => all.map((options) => ({ options }));

const because = (reason: string, ...all: readonly string[]): ImageCase[] =>
  all.map((options) => ({ options, reason }));

const OTHER_PALETTE = 'another quantizer chooses the palette and the dots';

const ENLARGED = 'libvips enlarges with a sharper filter (bicubic) than ImageMagick (Mitchell)';
const SHRUNK = 'JPEG and WebP are decoded at a smaller size before they are resized, which is much faster';
const BEHIND = 'the colors behind transparent pixels of a GIF differ, and are counted';
const HINTED = 'glyphs are not aligned to whole pixels';
const EMPTY = 'an image of a single color stays whole, where ImageMagick leaves one pixel';

/** Option sets for every operator of imageproc. */
export const IMAGE_CASES: readonly ImageCase[] = [
  ...because(SHRUNK, '-resize=100x100', '-resize=x90', '-resize=33.33333%'),
  ...same(
    ...['-resize=2000x2000>', '-resize=50%'],
    ...['-resize=50%x25%', '-resize=x50%', '-resize=100000@>', '-resize=64x^'],
    ...['-thumbnail=50%', '-sample=50%', '-sample=40x40!', '-resize=200x100!'],
  ),
  ...because(
    ENLARGED,
    '-resize=100x100!',
    '-resize=100x100\\!',
    '-resize=100x80^',
    '-resize=120',
    '-resize=150%',
    '-resize=10000@',
    '-resize=100x100 -background=#336699 -gravity=Center -extent=120x120',
    '-crop=60x40+4+4 -resize=200% -gamma=1.4',
  ),
  ...because(ENLARGED, '-resize=300x300<', '-resize=80x80 -resize=160x160'),
  ...because(ENLARGED, '-resize=80x80^ -gravity=Center -extent=80x80'),
  ...because(BEHIND, '-sepia-tone=60%'),
  ...same('-gaussian-blur=0x3', '-unsharp=0x1', '-unsharp=0x2+1.5+0.02'),
  ...because(SHRUNK, '-resize=17x13!', '-resize=100x100>'),
  ...because(`${SHRUNK}, and ${ENLARGED}`, '-thumbnail=80x80'),
  ...because(EMPTY, '-fuzz=10% -trim', '-bordercolor=black -border=1 -trim'),
  ...same('-scale=50%', '-scale=25%', '-scale=60x60!'),
  ...same(
    ...['-crop=40x30+5+5', '-crop=40x30+0+0', '-crop=50%x50%+0+0', '-gravity=Center -crop=40x30+0+0'],
    ...[
      '-gravity=SouthEast -crop=20x20+2+3',
      '-gravity=North -crop=30x10+0+4',
      '-gravity=West -crop=10x30+1+0',
    ],
    ...[
      '-gravity=NorthEast -crop=25x25+3+1',
      '-gravity=South -crop=33x11+0+0',
      '-gravity=East -crop=21x17+0+0',
    ],
    ...[
      '-gravity=SouthWest -crop=15x16+1+1',
      '-gravity=Center -crop=33x21+4-3',
      '-crop=40x0+2+0',
      '-crop=0x20+0+2',
    ],
  ),
  ...same(
    ...[
      '-extent=150x150',
      '-gravity=Center -extent=150x150',
      '-gravity=Center -background=red -extent=300x200',
    ],
    ...[
      '-gravity=SouthEast -background=grey50 -extent=90x300',
      '-extent=30x30',
      '-gravity=Center -extent=40x40',
    ],
    ...['-background=none -gravity=Center -extent=200x200'],
  ),
  ...same(
    ...['-border=10', '-border=10x5', '-bordercolor=blue -border=4x8', '-bordercolor=gray30 -border=5%'],
    ...['-bordercolor=rgb(255,128,0) -border=3', '-shave=5', '-shave=8x3', '-shave=5%x10%'],
    ...['-bordercolor=white -border=20 -trim', '-trim'],
    ...['-fuzz=5% -bordercolor=#fafafa -border=6 -bordercolor=white -border=3 -trim'],
  ),
  ...same(
    ...[
      '-rotate=90',
      '-rotate=180',
      '-rotate=270',
      '-rotate=-90',
      '-rotate=90>',
      '-rotate=90<',
      '-rotate=450',
    ],
    ...['-flip', '-flop', '-flip -flop', '-flip -flip', '-rotate=90 -flip', '-rotate=0'],
  ),
  ...because(
    'libvips places the turned image on a canvas that differs by up to 2 pixels',
    '-rotate=30',
    '-rotate=7.5 -background=blue',
  ),
  ...same(
    ...['-negate', '-negate -negate', '-colorspace=Gray', '-colorspace=sRGB', '-colorspace=RGB', '-flatten'],
    ...[
      '-background=lime -flatten',
      '-alpha=remove',
      '-background=navy -alpha=remove',
      '-alpha=off',
      '-alpha=opaque',
    ],
    ...['-colorspace=RGB -resize=50% -colorspace=sRGB', '-alpha=set', '-alpha=on'],
  ),
  ...same(
    ...['-threshold=50%', '-threshold=20%', '-threshold=80%', '-threshold=30000', '-gamma=2', '-gamma=0.5'],
    ...[
      '-gamma=1.2,1,.8',
      '-gamma=2.2',
      '-level=10%,90%',
      '-level=10%,90%,1.5',
      '-level=20%',
      '-level=0,50%',
    ],
    ...['-level=5000,60000', '-level=0%,100%,0.7', '-auto-level', '-normalize', '-contrast-stretch=2%x1%'],
    ...['-contrast-stretch=0%', '-contrast-stretch=5%x5%', '-contrast-stretch=0.5%', '-sepia-tone=80%'],
    ...[
      '-modulate=120',
      '-modulate=100,50',
      '-modulate=100,150',
      '-modulate=100,100,120',
      '-modulate=80,120,90',
    ],
    ...['-modulate=100,0', '-modulate=100,100,50', '-brightness-contrast=10', '-brightness-contrast=0x20'],
    ...['-brightness-contrast=-10x-10', '-brightness-contrast=30x30', '-brightness-contrast=-40'],
  ),
  ...same('-fill=red -tint=50', '-fill=blue -tint=100', '-fill=gold -tint=80'),
  ...because(OTHER_PALETTE, '-posterize=4', '-posterize=2', '-posterize=8'),
  ...same('+dither -posterize=16', '+dither -posterize=3', '+dither -posterize=6'),
  ...because(
    OTHER_PALETTE,
    '-colors=16',
    '-colors=64',
    '-colors=256',
    '+dither -colors=8',
    '+dither -colors=32',
    '-monochrome',
  ),
  ...same('-blur=0x1', '-blur=0x2', '-blur=0x4', '-blur=0x0.6', '-gaussian-blur=0x1.5', '-blur=0x12'),
  ...same('-sharpen=0x1', '-sharpen=0x2', '-unsharp=0x0.75+0.75+0.008'),
  ...same(
    '-transparent=white',
    '-fuzz=10% -transparent=white',
    '-fuzz=20% -transparent=black',
    '-transparent=#ff0000',
  ),
  ...text(),
  ...because('a setting that is given once applies wherever it is', '-border=3 -negate -bordercolor=red'),
  ...same(
    ...['-resize=100x -flip -negate', '-flip -crop=40x30+0+0'],
    ...['-resize=50% -border=2 -rotate=90', '-flop -threshold=40%'],
    ...['-colorspace=Gray -normalize', '-gamma=1.5 -gamma=1.5'],
    ...['-modulate=110 -resize=60%', '-auto-level -level=5%,95% -resize=70x', '-shave=2 -border=2 -flip'],
  ),
];

/** Text in a font that both sides have. */
function text(): ImageCase[] {
  const font = '-font=DejaVu-Sans';
  const sets = [
    `-gravity=Center ${font} -pointsize=24 -annotate=+0+0_Hello`,
    `-gravity=SouthEast ${font} -pointsize=18 -fill=white -annotate=+5+5_Sample_text`,
    `-gravity=North ${font} -pointsize=30 -fill=red -annotate=+0+10_Top`,
    `-gravity=SouthWest ${font} -pointsize=14 -fill=#0000ff -annotate=+3+3_Bottom_left`,
    `-gravity=West ${font} -pointsize=20 -annotate=+4+0_Left`,
    `${font} -pointsize=22 -fill=green -annotate=+10+40_Baseline`,
    `-gravity=Center ${font} -pointsize=20 -annotate=+0+0_Two\\nlines`,
    `-gravity=South ${font} -pointsize=16 -annotate=+0+6_One -gravity=North -annotate=+0+6_Two`,
  ];
  return because(HINTED, ...sets);
}
