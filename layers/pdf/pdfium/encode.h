// Writes canvases as image files. Each function returns 0 if the file could not be written or memory ran out.
#ifndef ENCODE_H
#define ENCODE_H

#include "canvas.h"

struct encoding {
    const char *format;
    int quality;
    // Dots per inch, written into the file.
    double x_density, y_density;
    enum color color;
};

// Writes a jpg, a png, or raw pixels for another program to encode.
int write_image(const struct canvas *, const char *path, const struct encoding *);

int write_jpeg(const struct canvas *, const char *path, const struct encoding *);
int write_png(const struct canvas *, const char *path, const struct encoding *);

// Appends one page to a TIFF file, which the first page creates.
int append_tiff(const struct canvas *, const char *path, const struct encoding *, int first);

#endif
