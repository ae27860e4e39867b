#include "encode.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "big_endian.h"

// libdeflate's level 3 is faster than zlib, and its files are smaller.
#define LEVEL 3
#define INCHES_PER_METER (1 / 0.0254)

static bool write_chunk(FILE *file, const char *type, const unsigned char *data, size_t size)
{
    unsigned char head[8], sum[4];
    write32(head, size);
    memcpy(head + 4, type, 4);
    write32(sum, libdeflate_crc32(libdeflate_crc32(0, head + 4, 4), data, size));
    return fwrite(head, 1, 8, file) == 8 && fwrite(data, 1, size, file) == size && fwrite(sum, 1, 4, file) == 4;
}

// Packs black and white pixels, eight to a byte. Returns the number of bytes.
static size_t pack(const struct canvas *canvas, unsigned char *out)
{
    const size_t stride = (canvas->width + 7) / 8 + 1;
    memset(out, 0, stride * canvas->height);
    for (int y = 0; y < canvas->height; y++) {
        const unsigned char *row = row_of(canvas, y);
        unsigned char *bits = out + y * stride + 1;
        for (int x = 0; x < canvas->width; x++)
            if (row[x])
                bits[x >> 3] |= 0x80 >> (x & 7);
    }
    return stride * canvas->height;
}

bool write_png(const struct canvas *canvas, const char *path, const struct encoding *encoding)
{
    const bool bilevel = is_bilevel(canvas, encoding);
    const unsigned char *rows = canvas->bytes;
    size_t size = canvas->stride * canvas->height;
    unsigned char *packed = bilevel ? malloc(((canvas->width + 7) / 8 + 1) * (size_t)canvas->height) : NULL;
    if (bilevel && !packed)
        return false;
    if (bilevel)
        rows = packed, size = pack(canvas, packed);

    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    const size_t bound = compressor ? libdeflate_zlib_compress_bound(compressor, size) : 0;
    unsigned char *compressed = compressor ? malloc(bound) : NULL;
    const size_t length = compressed ? libdeflate_zlib_compress(compressor, rows, size, compressed, bound) : 0;
    FILE *file = length ? fopen(path, "wb") : NULL;

    unsigned char header[13] = { 0 }, density[9];
    write32(header, canvas->width);
    write32(header + 4, canvas->height);
    header[8] = bilevel ? 1 : 8;
    header[9] = canvas->channels == 1 ? 0 : canvas->channels == 3 ? 2 : 6;
    write32(density, encoding->x_density * INCHES_PER_METER + 0.5);
    write32(density + 4, encoding->y_density * INCHES_PER_METER + 0.5);
    density[8] = 1;
    bool written = file && fwrite("\x89PNG\r\n\x1a\n", 1, 8, file) == 8 && write_chunk(file, "IHDR", header, sizeof header)
                  && write_chunk(file, "pHYs", density, sizeof density) && write_chunk(file, "IDAT", compressed, length)
                  && write_chunk(file, "IEND", header, 0);
    if (file)
        written = fclose(file) == 0 && written;
    if (compressor)
        libdeflate_free_compressor(compressor);
    free(compressed), free(packed);
    return written;
}
