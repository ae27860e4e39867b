// The words that ImageMagick 7 accepts, except those that read files or properties.

export const SPACES =
  'Gray sRGB RGB CMYK LinearGray scRGB CMY HCL HCLp HSB HSI HSL HSV HWB Jzazbz Lab LCHab LCHuv LMS ' +
  'Log Luv OHTA Oklab Oklch ProPhoto Rec601YCbCr Rec709YCbCr Transparent xyY XYZ YCbCr YCC YDbDr YIQ ' +
  'YPbPr YUV Adobe98 DisplayP3';

export const INTENSITIES =
  'Average Brightness Lightness Mean MS Rec601Luma Rec601Luminance Rec709Luma Rec709Luminance RMS';

export const DISTORTIONS =
  'Affine AffineProjection ScaleRotateTranslate SRT Perspective PerspectiveProjection BilinearForward ' +
  'BilinearReverse Polynomial Arc Polar DePolar Barrel BarrelInverse Shepards Resize Plane2Cylinder ' +
  'Cylinder2Plane RigidAffine';

export const EVALUATIONS =
  'Abs Add AddModulus And Cos Cosine Divide Exp Exponential GaussianNoise ImpulseNoise InverseLog ' +
  'LaplacianNoise LeftShift Log Max Mean Median Min MultiplicativeNoise Multiply Or PoissonNoise Pow ' +
  'RightShift RMS RootMeanSquare Set Sin Sine Subtract Sum Threshold ThresholdBlack ThresholdWhite ' +
  'UniformNoise Xor';

export const STATISTICS = 'Contrast Gradient Maximum Mean Median Minimum Mode Nonpeak RMS StandardDeviation';

export const MORPHOLOGIES =
  'Correlate Convolve Dilate Erode Close Open DilateIntensity ErodeIntensity CloseIntensity ' +
  'OpenIntensity Smooth EdgeOut EdgeIn Edge TopHat BottomHat Hit_And_Miss HMT Thinning Thicken ' +
  'Distance IterativeDistance Voronoi';

export const LAYERS =
  'coalesce compare-any compare-clear compare-overlay dispose optimize optimize-frame optimize-plus ' +
  'optimize-transparency remove-dups remove-zero merge flatten mosaic trim-bounds';

export const CHANNELS =
  'R G B A C M Y K RG RB GB RGB RGBA RA GA BA CMYK Red Green Blue Alpha Cyan Magenta Yellow Black All ' +
  'Default Sync RGB,sync All,sync 0 1 2';

export const RESIZE_FILTERS =
  'Bartlett Blackman Bohman Box Catrom Cosine Cubic CubicSpline Gaussian Hamming Hann Hermite Jinc ' +
  'Kaiser Lagrange Lanczos Lanczos2 Lanczos2Sharp LanczosRadius LanczosSharp MagicKernelSharp2013 ' +
  'MagicKernelSharp2021 Mitchell Parzen Point Quadratic Robidoux RobidouxSharp Sinc SincFast Spline ' +
  'Triangle Welch';

export const INTERPOLATIONS =
  'Average Average4 Average9 Average16 Background Bilinear Blend Catrom Integer Mesh Nearest Spline';

export const VIRTUAL_PIXELS =
  'Background Black CheckerTile Dither Edge Gray HorizontalTile HorizontalTileEdge Mirror None Random ' +
  'Tile Transparent VerticalTile VerticalTileEdge White';

export const BLEND_MODES =
  'Over Multiply Screen Overlay Darken Lighten ColorDodge ColorBurn HardLight SoftLight Difference ' +
  'Exclusion Plus Atop Bumpmap ChangeMask Clear Colorize Copy CopyAlpha CopyBlue CopyGreen CopyRed ' +
  'DarkenIntensity DivideDst DivideSrc Dst DstAtop DstIn DstOut DstOver Freeze HardMix Hue In ' +
  'Interpolate LightenIntensity LinearBurn LinearDodge LinearLight Luminize MinusDst MinusSrc ' +
  'ModulusAdd ModulusSubtract Negate Out PegtopLight PinLight Reflect Saturate SoftBurn SoftDodge Src ' +
  'SrcAtop SrcIn SrcOut SrcOver Stamp VividLight Xor';

/** Options that have no effect here. */
export const IGNORED: readonly string[] =
  '-antialias +antialias -limit -quiet -verbose -monitor -synchronize -precision -taint'.split(' ');

/** Options that would read or write other files, run other programs or never finish. */
export const REFUSED: readonly string[] = (
  '-write +write -read -fx +fx -script -cdl -label -caption -comment -set -format -profile -texture ' +
  '-tile -mask -clip-mask -read-mask -write-mask -remap -clip -clip-path -process -encipher -decipher ' +
  '-print -display -authenticate -path -debug -log -list -identify'
).split(' ');
