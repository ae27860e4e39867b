#include "encode.h"

#include <stdio.h>

#include "message.h"

static bool write_raw(const struct canvas *canvas, const char *path)
{
    FILE *file = fopen(path, "wb");
    bool written = file != NULL;
    for (int y = 0; written && y < canvas->height; y++)
        written = fwrite(row_of(canvas, y), canvas->stride - 1, 1, file) == 1;
    return file && fclose(file) == 0 && written;
}

static const char *const EXTENSIONS[] = { [JPG] = "jpg", [PNG] = "png", [TIFF_FILE] = "tiff", [RAW] = "raw", NULL };

int format_of(const char *extension)
{
    return index_of(extension, EXTENSIONS);
}

const char *extension_of(enum format format)
{
    return EXTENSIONS[format];
}

bool write_image(const struct canvas *canvas, const char *path, const struct encoding *encoding)
{
    switch (encoding->format) {
    case JPG:
        return write_jpeg(canvas, path, encoding);
    case PNG:
        return write_png(canvas, path, encoding);
    case RAW:
        return write_raw(canvas, path);
    case TIFF_FILE:
        break;
    }
    return false;
}
