/** Packages of ImageMagick. Versions are the newest of the suite and are recorded in `manifest.json`. */
export const PINS = {
  suite: 'trixie',
  packages: [
    'libmagickwand-7.q16-10',
    // Coders of DjVu, OpenEXR, JPEG 2000 and others, only some of which are kept.
    'libmagickcore-7.q16-10-extra',
    // Parses the requests.
    'libyyjson0',
    // Decoders for HEIC and AVIF.
    'libheif-plugin-libde265',
    'libheif-plugin-dav1d',
  ],
  headers: [
    'libmagickcore-7-headers',
    'libmagickwand-7-headers',
    'libmagickcore-7-arch-config',
    'libmagickcore-7.q16-dev',
    'libyyjson-dev',
  ],
  version: '7.1.1',
  libraries: ['libMagickWand-7.Q16.so.10', 'libMagickCore-7.Q16.so.10', 'libyyjson.so.0'],
  /** Modules that read or write the listed formats. The policy names the same formats, because some modules know several. */
  coders: {
    bmp: ['BMP', 'BMP2', 'BMP3'],
    cin: ['CIN'],
    dcm: ['DCM'],
    dds: ['DDS', 'DXT1', 'DXT5'],
    dpx: ['DPX'],
    exr: ['EXR'],
    farbfeld: ['FARBFELD', 'FF'],
    fits: ['FITS', 'FTS'],
    gif: ['GIF', 'GIF87'],
    hdr: ['HDR'],
    heic: ['HEIC', 'HEIF', 'AVIF'],
    icon: ['ICO', 'CUR', 'ICON'],
    jp2: ['JP2', 'J2K', 'JPC', 'JPM', 'JPT', 'J2C'],
    jpeg: ['JPEG', 'JPG', 'PJPEG'],
    pcx: ['PCX', 'DCX'],
    png: ['PNG', 'PNG8', 'PNG24', 'PNG32', 'PNG48', 'PNG64', 'PNG00', 'JNG', 'MNG'],
    pnm: ['PNM', 'PBM', 'PGM', 'PPM', 'PAM', 'PFM', 'PHM'],
    psd: ['PSD', 'PSB'],
    qoi: ['QOI'],
    sgi: ['SGI'],
    sun: ['SUN', 'RAS'],
    tga: ['TGA'],
    tiff: ['TIFF', 'TIF', 'TIFF64'],
    viff: ['VIFF', 'XV'],
    webp: ['WEBP'],
    xbm: ['XBM'],
    xcf: ['XCF'],
    xpm: ['XPM', 'PICON'],
    xwd: ['XWD'],
  },
  /** The only formats that are written. */
  written: 'BMP GIF ICO JPEG JPG PNG PNG8 PNG24 PNG32 PNG48 PNG64 PNG00 TIFF TIF WEBP'.split(' '),
} as const;
