#include "encode.h"

#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

static void set_fields(TIFF *tiff, const struct canvas *canvas, const struct encoding *encoding)
{
    const int channels = canvas->channels;
    const bool bilevel = is_bilevel(canvas, encoding);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, canvas->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, canvas->height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bilevel ? 1 : 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    const int gray = bilevel ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK;
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, channels == 1 ? gray : PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, bilevel ? COMPRESSION_CCITTFAX4 : COMPRESSION_ADOBE_DEFLATE);
    if (!bilevel)
        TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    if (channels == 4) {
        const uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    }
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, bilevel ? (uint32_t)canvas->height : TIFFDefaultStripSize(tiff, 0));
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, encoding->x_density);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, encoding->y_density);
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
}

bool append_tiff(const struct canvas *canvas, const char *path, const struct encoding *encoding, bool first)
{
    const bool bilevel = is_bilevel(canvas, encoding);
    TIFF *tiff = TIFFOpen(path, first ? "w" : "a");
    unsigned char *row = malloc(canvas->stride);
    bool written = tiff && row;
    if (written)
        set_fields(tiff, canvas, encoding);
    for (int y = 0; written && y < canvas->height; y++) {
        const unsigned char *pixels = row_of(canvas, y);
        // A copy, because the predictor works in place.
        if (bilevel) {
            memset(row, 0, canvas->stride);
            for (int x = 0; x < canvas->width; x++)
                if (!pixels[x])
                    row[x >> 3] |= 0x80 >> (x & 7);
        } else {
            memcpy(row, pixels, canvas->stride - 1);
        }
        written = TIFFWriteScanline(tiff, row, y, 0) == 1;
    }
    if (tiff) {
        written = TIFFWriteDirectory(tiff) && written;
        TIFFClose(tiff);
    }
    free(row);
    return written;
}
