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

static const char *const EXTENSIONS[] = {
    [FORMAT_JPG] = "jpg", [FORMAT_PNG] = "png", [FORMAT_TIFF] = "tiff", [FORMAT_RAW] = "raw", NULL,
};

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
    case FORMAT_JPG:
        return write_jpeg(canvas, path, encoding);
    case FORMAT_PNG:
        return write_png(canvas, path, encoding);
    case FORMAT_RAW:
        return write_raw(canvas, path);
    case FORMAT_TIFF:
        break;
    }
    return false;
}
