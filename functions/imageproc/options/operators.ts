import type { Format } from '../../shared/formats.ts';
import { formatsWith } from '../formats.ts';
import {
  amount,
  annotation,
  brightness,
  color,
  colors,
  degrees,
  edges,
  gammas,
  imageUrl,
  type Kind,
  levels,
  nothing,
  numbers,
  region,
  series,
  shapes,
  size,
  stretch,
  symbols,
  word,
  wordAnd,
} from './values.ts';
import * as words from './words.ts';

/** Formats that store animations. */
const ANIMATIONS = formatsWith('animation');

const pixels = (example: string, count = 4) => numbers(example, { count, max: 16_384 });
const softness = (more = '') => numbers(`0x2${more}`);
const percent = (example: string, max = 1000) => numbers(example, { count: 3, max });

/**
 * Operators, and settings whose position counts, applied from left to right. ImageMagick runs all of them. sharp runs
 * those in `operators/sharp.ts` faster.
 */
export const OPERATORS = {
  '-resize': [
    size,
    'fits the image into a box; `!` ignores its aspect ratio, `>` only shrinks, `<` only enlarges, `^` fills the box, `%` scales, `@` limits the area',
  ],
  '-thumbnail': [size, 'same as `-resize`'],
  '-scale': [size, 'like `-resize`, but averages pixels'],
  '-sample': [size, 'like `-resize`, but picks single pixels, without new colors'],
  '-adaptive-resize': [size, 'like `-resize`, with adaptive triangulation'],
  '-interpolative-resize': [size, 'like `-resize`, with the method of `-interpolate`'],
  '-liquid-rescale': [size, 'like `-resize`, but removes or inserts the least important seams'],
  '-resample': [numbers('150x150', { count: 2, max: 2400 }), 'resizes to a resolution'],
  '-magnify': [nothing, 'doubles the size of pixel art'],
  '-crop': [
    region,
    'crops to a region, aligned by `-gravity`; `16:9` selects the largest area of that aspect ratio',
  ],
  '-extent': [
    region,
    'sets the size of the canvas, with the image aligned by `-gravity` on `-background`; `16:9` pads to that aspect ratio',
  ],
  '-border': [edges, 'adds edges in `-bordercolor`'],
  '-shave': [edges, 'cuts off edges'],
  '-chop': [pixels('10x10+5+5'), 'removes columns and rows'],
  '-splice': [pixels('10x10+5+5'), 'inserts columns and rows in `-background`'],
  '-trim': [nothing, 'cuts off edges of a single color, within `-fuzz`'],
  '-rotate': [degrees, 'rotates clockwise, with corners in `-background`'],
  '-shear': [numbers('10x5', { count: 2, max: 89 }), 'slants by degrees, with corners in `-background`'],
  '-deskew': [amount('40%', { max: 100 }), 'straightens a scan'],
  '-roll': [pixels('+10+20', 2), 'shifts the image, wrapping around the edges'],
  '-flip': [nothing, 'mirrors top to bottom'],
  '-flop': [nothing, 'mirrors left to right'],
  '-transpose': [nothing, 'mirrors along the diagonal from the top left'],
  '-transverse': [nothing, 'mirrors along the diagonal from the top right'],
  '-distort': [
    wordAnd(words.DISTORTIONS, series('0,0 10,5 80,0 70,5')),
    'transforms the image by points or coefficients',
  ],
  '+distort': [
    wordAnd(words.DISTORTIONS, series('0,0 10,5 80,0 70,5')),
    'like `-distort`, with a canvas that fits',
  ],
  '-implode': [amount('0.5', { min: -10, max: 10 }), 'pulls pixels toward the center'],
  '-swirl': [degrees, 'swirls around the center by degrees'],
  '-wave': [
    numbers('10x64', { count: 2, max: 4000 }),
    'shifts columns along a sine wave, amplitude x wavelength',
  ],
  '-spread': [amount('3'), 'displaces pixels at random'],
  '-repage': [pixels('100x100+10+10'), 'sets the canvas of a frame'],
  '+repage': [nothing, 'removes the canvas of a frame'],
  '-annotate': [
    annotation,
    'writes text, aligned by `-gravity`, in `-font`, `-pointsize`, `-fill`, `-stroke`; `\\n` starts a new line',
  ],
  '-draw': [shapes, 'draws shapes in `-fill` and `-stroke`'],
  '-composite': [
    imageUrl(),
    'draws the image at a URL on top, as set by `-gravity`, `-geometry`, `-compose` and `-dissolve`',
  ],
  '-append': [
    imageUrl({ optional: true }),
    'adds the image at a URL below; without a URL, stacks all frames',
  ],
  '+append': [imageUrl({ optional: true }), 'like `-append`, to the right'],
  '-rounded-corners': [edges, 'makes corners transparent outside of a radius'],
  '-vignette': [numbers('0x20+10+10', { max: 4000 }), 'softens the edges into `-background`'],
  '-polaroid': [degrees, 'frames the image as a tilted photo'],
  '-raise': [pixels('6x6', 2), 'shades the edges like a raised button'],
  '+raise': [pixels('6x6', 2), 'like `-raise`, but pressed'],
  '-shadow': [numbers('60x4+4+4', { max: 1000 }), 'replaces the image with its shadow, opacity x sigma'],
  '-colorspace': [word(words.SPACES), 'converts to a color space; RGB is linear, CMYK only for jpg and tiff'],
  '-grayscale': [word(words.INTENSITIES), 'converts to gray by a formula'],
  '-monochrome': [nothing, 'converts to black and white with dithering'],
  '-colors': [amount('16', { min: 1, max: 65_536 }), 'reduces the number of colors'],
  '-kmeans': [numbers('8x20+0.01', { count: 3, max: 256 }), 'reduces the colors by clustering'],
  '-posterize': [amount('4', { min: 2, max: 256 }), 'reduces the number of values per channel'],
  '-ordered-dither': [
    symbols('o4x4,8', /^[\w-]{1,20}(,\d{1,3}){0,4}$/),
    'reduces the values per channel by a pattern',
  ],
  '-unique-colors': [nothing, 'returns a row of one pixel for each color'],
  '-segment': [numbers('1x1.5', { count: 2 }), 'reduces to regions of similar color'],
  '-connected-components': [word('4 8'), 'labels the areas of equal color'],
  '-negate': [nothing, 'inverts the colors'],
  '-normalize': [nothing, 'stretches the contrast: 0.15 % become black, 0.05 % white'],
  '-equalize': [nothing, 'spreads the shades evenly'],
  '-enhance': [nothing, 'removes noise'],
  '-contrast': [nothing, 'increases the contrast'],
  '+contrast': [nothing, 'reduces the contrast'],
  '-auto-level': [nothing, 'stretches the contrast over the whole range'],
  '-auto-gamma': [nothing, 'sets the gamma so that the mean is medium gray'],
  '-auto-threshold': [word('Kapur OTSU Triangle'), 'converts to black and white at a computed brightness'],
  '-white-balance': [nothing, 'corrects the white balance'],
  '-contrast-stretch': [stretch, 'stretches the contrast until this many pixels are black and white'],
  '-linear-stretch': [stretch, 'like `-contrast-stretch`, for all channels together'],
  '-local-contrast': [numbers('10x20%'), 'increases the contrast of areas, radius x strength'],
  '-sigmoidal-contrast': [numbers('3,50%', { count: 2 }), 'increases the contrast of middle tones'],
  '+sigmoidal-contrast': [numbers('3,50%', { count: 2 }), 'reduces the contrast of middle tones'],
  '-clahe': [numbers('25x25%+128+3', { max: 1024 }), 'equalizes the contrast in tiles'],
  '-clamp': [nothing, 'restricts values to the range of colors'],
  '-level': [levels, 'stretches the contrast between a black and a white point'],
  '+level': [levels, 'compresses the contrast between a black and a white point'],
  '-level-colors': [colors(',', 2), 'maps two colors to black and white'],
  '+level-colors': [colors(',', 2), 'maps black and white to two colors'],
  '-gamma': [gammas, 'corrects the gamma; values above 1 brighten the middle tones'],
  '-modulate': [percent('110,80,100'), 'changes brightness, saturation and hue, in percent'],
  '-brightness-contrast': [numbers('10x-5', { count: 2 }), 'changes brightness x contrast, in percent'],
  '-sepia-tone': [brightness, 'applies a sepia tone; 80% is usual'],
  '-blue-shift': [amount('1.5', { max: 10 }), 'simulates moonlight'],
  '-colorize': [percent('20,40,10', 100), 'blends with `-fill`'],
  '-tint': [percent('50', 500), 'tints the middle tones with `-fill`'],
  '-color-matrix': [series('1 0 0 0 1 0 0 0 1', { count: 36 }), 'multiplies the channels by a matrix'],
  '-solarize': [brightness, 'inverts the colors above a brightness'],
  '-threshold': [brightness, 'turns pixels above a brightness white and others black'],
  '-black-threshold': [brightness, 'turns pixels below a brightness black'],
  '-white-threshold': [brightness, 'turns pixels above a brightness white'],
  '-range-threshold': [numbers('10%,20%,80%,90%', { max: 65_535 }), 'keeps a range of brightness'],
  '-random-threshold': [
    numbers('20%x80%', { count: 2, max: 65_535 }),
    'converts to black and white at random brightness',
  ],
  '-color-threshold': [colors('-', 2), 'turns pixels between two colors white and others black'],
  '-lat': [
    numbers('15x15-5%', { count: 3, max: 200 }),
    'converts to black and white at the mean brightness of the neighbors',
  ],
  '-cycle': [amount('10', { min: -65_536, max: 65_536 }), 'rotates the palette'],
  '-opaque': [color, 'replaces a color with `-fill`, within `-fuzz`'],
  '+opaque': [color, 'replaces all other colors with `-fill`'],
  '-transparent': [color, 'makes a color transparent, within `-fuzz`'],
  '+transparent': [color, 'makes all other colors transparent'],
  '-floodfill': [floodfill(), 'fills an area of one color with `-fill`'],
  '-evaluate': [
    wordAnd(words.EVALUATIONS, amount('10%', { min: -65_536, max: 65_536 })),
    'applies an arithmetic operation to every value',
  ],
  '-function': [
    wordAnd('Polynomial Sinusoid ArcSin ArcTan', series('4,-4,1', { count: 20 })),
    'applies a function to every value',
  ],
  '-sparse-color': [sparseColor(), 'fills the image between colored points'],
  '-channel-fx': [symbols('red<=>blue', /^[a-z,;<=>| -]+$/i), 'exchanges and copies channels'],
  '-separate': [nothing, 'turns the channels into frames'],
  '-combine': [nothing, 'turns frames into channels'],
  '-blur': [softness(), 'blurs, radius x sigma'],
  '-gaussian-blur': [softness(), 'like `-blur`, slower and more exact'],
  '-adaptive-blur': [softness(), 'blurs less near edges'],
  '-bilateral-blur': [numbers('9x9+30+30', { max: 200 }), 'blurs and keeps edges'],
  '-selective-blur': [softness('+10%'), 'blurs areas of low contrast'],
  '-motion-blur': [numbers('0x12+45', { max: 360 }), 'blurs in a direction, radius x sigma + degrees'],
  '-rotational-blur': [amount('10', { max: 360 }), 'blurs around the center by degrees'],
  '-wavelet-denoise': [numbers('5%x0.1', { count: 2, max: 65_535 }), 'removes noise with wavelets'],
  '-mean-shift': [numbers('7x7+10%', { count: 3 }), 'removes noise and flattens colors'],
  '-kuwahara': [numbers('3x2', { count: 2, max: 30 }), 'smooths and keeps edges'],
  '-despeckle': [nothing, 'removes speckles'],
  '-noise': [amount('2', { max: 30 }), 'reduces noise within a radius'],
  '+noise': [
    word('Gaussian Impulse Laplacian Multiplicative Poisson Random Uniform'),
    'adds noise, as strong as `-attenuate`',
  ],
  '-statistic': [
    wordAnd(words.STATISTICS, numbers('3x3', { count: 2, max: 60 })),
    'replaces each pixel with a statistic of its neighbors',
  ],
  '-paint': [amount('4', { max: 30 }), 'simulates an oil painting'],
  '-charcoal': [numbers('2x1', { count: 2, max: 30 }), 'simulates a charcoal drawing'],
  '-sketch': [numbers('0x20+120', { count: 3, max: 360 }), 'simulates a pencil drawing'],
  '-edge': [amount('1', { max: 30 }), 'highlights edges'],
  '-canny': [numbers('0x1+10%+30%'), 'finds edges'],
  '-emboss': [numbers('0x1', { count: 2, max: 30 }), 'embosses'],
  '-shade': [numbers('30x30', { count: 2, max: 360 }), 'lights the image from a direction'],
  '-sharpen': [softness(), 'sharpens, radius x sigma'],
  '-adaptive-sharpen': [softness(), 'sharpens more near edges'],
  '-unsharp': [softness('+1+0.05'), 'sharpens edges, radius x sigma + gain + threshold'],
  '-convolve': [series('1,1,1,1,-8,1,1,1,1', { count: 225 }), 'applies a kernel'],
  '-morphology': [
    wordAnd(words.MORPHOLOGIES, symbols('Disk:2', /^[\w-]{1,20}(:[\d.,x+-]{0,100}[<>]?)?$/), 20),
    'applies a method with a kernel; `Dilate:2` repeats it',
  ],
  '-integral': [nothing, 'adds up the values from the top left'],
  '-sort-pixels': [nothing, 'sorts the pixels of each row'],
  '-flatten': [nothing, 'draws the image on `-background`'],
  '-alpha': [
    word(
      'remove off on set opaque activate deactivate associate disassociate background copy discrete extract shape transparent',
    ),
    '`remove` draws the image on `-background`, `off` shows hidden colors, `on` adds transparency',
  ],
  '-coalesce': [nothing, 'completes all frames'],
  '-layers': [word(words.LAYERS), 'compares, optimizes or merges frames'],
  '-reverse': [nothing, 'reverses the frames'],
  '-smush': [amount('5', { min: -1000, max: 1000 }), 'stacks all frames with a gap'],
  '+smush': [amount('5', { min: -1000, max: 1000 }), 'like `-smush`, to the right'],
  '-swap': [numbers('0,1', { count: 2, max: 2000 }), 'exchanges two frames'],
  '-insert': [amount('0', { max: 2000 }), 'moves the last frame to this index'],
  '-delete': [frames(), 'removes frames'],
  '-duplicate': [amount('1', { max: 100 }), 'repeats the last frame'],
  '-morph': [amount('3', { max: 20 }), 'inserts intermediate frames'],
  '-evaluate-sequence': [word(words.EVALUATIONS), 'combines all frames into one'],
  '-mosaic': [nothing, 'draws all frames on one canvas'],
  '-channel': [word(words.CHANNELS), 'channels that later operators change'],
  '+channel': [nothing, 'ends `-channel`'],
  '-filter': [word(words.RESIZE_FILTERS), 'filter of later resizes'],
  '-interpolate': [word(words.INTERPOLATIONS), 'how colors between pixels are computed'],
  '-virtual-pixel': [word(words.VIRTUAL_PIXELS), 'colors beyond the edges'],
  '-intensity': [word(words.INTENSITIES), 'formula for brightness'],
  '-attenuate': [amount('0.5', { max: 100 }), 'strength of `+noise`'],
  '-seed': [amount('1', { max: 999_999 }), 'makes random operators repeatable'],
  '-quantize': [word(words.SPACES), 'color space of `-colors`'],
  '-treedepth': [amount('8', { min: 0, max: 8 }), 'depth of the tree of `-colors`'],
  '-mattecolor': [color, 'color of `-polaroid` and others'],
  '-delay': [
    numbers('10x100', { count: 2, max: 65_535 }),
    'time of each frame, in hundredths of a second',
    ANIMATIONS,
  ],
  '-loop': [amount('0', { max: 65_535 }), 'number of repeats of an animation, 0 for endless', ANIMATIONS],
  '-dispose': [word('None Background Previous'), 'how frames of an animation are removed', ANIMATIONS],
} as const satisfies Readonly<
  Record<string, readonly [kind: Kind, description: string, outputs?: readonly Format[]]>
>;

/** Reads `+10+20 white`: the starting point, and the color of the area. */
function floodfill(): Kind {
  return {
    rule: 'an offset and a color, such as +10+20 white',
    words: 'two',
    parse: (value) => {
      const match = /^[+ ]?(\d{1,5})[+ ,](\d{1,5}) (\S+)$/.exec(value);
      const found = match && color.parse(match[3]!);
      return found ? [`+${match[1]}+${match[2]}`, ...found] : undefined;
    },
  };
}

/** Reads `Barycentric 0,0,red 99,0,#00ff00`. */
function sparseColor(): Kind {
  const methods = word('Barycentric Bilinear Shepards Inverse Voronoi Manhattan');
  return {
    rule: `${methods.rule}, then points such as 10,20,red`,
    words: 'two',
    maxLength: 4000,
    parse: (value) => {
      const [name = '', ...points] = value.split(' ');
      const method = methods.parse(name);
      const parsed = points.map((point) => {
        const match = /^(\d{1,5}),(\d{1,5}),(.+)$/.exec(point);
        const found = match && color.parse(match[3]!);
        return found ? `${match[1]},${match[2]},${found[0]}` : undefined;
      });
      const valid = method && parsed.length > 0 && parsed.length <= 100 && parsed.every((point) => point);
      return valid ? [...method, parsed.join(' ')] : undefined;
    },
  };
}

/** Reads a list of frames such as `0,2-5,-1`. */
function frames(): Kind {
  return {
    rule: 'frames such as 0,2-5 or -1',
    maxLength: 600,
    parse: (value) =>
      /^-?\d{1,4}(-\d{1,4})?(,-?\d{1,4}(-\d{1,4})?){0,50}$/.test(value) ? [value] : undefined,
  };
}
