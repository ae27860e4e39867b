// Writes canvases as image files. Each function returns false if the file could not be written or memory ran out.
#ifndef ENCODE_H
#define ENCODE_H

#include <stdbool.h>

#include "canvas.h"

// FORMAT_RAW: the pixels, which another program encodes.
enum format { FORMAT_JPG, FORMAT_PNG, FORMAT_TIFF, FORMAT_RAW };

struct encoding {
    enum format format;
    int quality;
    // Dots per inch, written into the file.
    double x_density, y_density;
    enum color color;
};

// Whether an image is written with one bit per pixel.
static inline bool is_bilevel(const struct canvas *canvas, const struct encoding *encoding)
{
    return encoding->color == COLOR_MONO && canvas->channels == 1;
}

// Returns the format for an extension, or -1.
int format_of(const char *extension);
const char *extension_of(enum format);

// Writes an image in any format except TIFF.
bool write_image(const struct canvas *, const char *path, const struct encoding *);

bool write_jpeg(const struct canvas *, const char *path, const struct encoding *);
bool write_png(const struct canvas *, const char *path, const struct encoding *);

// Appends a page to a TIFF file, which the first page creates.
bool append_tiff(const struct canvas *, const char *path, const struct encoding *, bool first);

#endif
