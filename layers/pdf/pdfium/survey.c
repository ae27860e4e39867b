// Declares memmem.
#define _GNU_SOURCE

#include "survey.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

// Distance between an object stream's type and its data.
#define MAX_DICTIONARY 1024
// Bounds for the inflated objects: of one stream, and of all.
#define MAX_STREAM (16UL << 20)
#define MAX_OBJECTS (256UL << 20)

struct counts {
    size_t cid_fonts, descriptors, files, layers, lines, states, units;
};

static size_t count_of(const char *bytes, size_t size, const char *name)
{
    const size_t length = strlen(name);
    size_t count = 0;
    for (const char *at = bytes, *end = bytes + size; (at = memmem(at, (size_t)(end - at), name, length)); at += length)
        count++;
    return count;
}

static void count(struct counts *counts, const char *bytes, size_t size)
{
    counts->cid_fonts += count_of(bytes, size, "/CIDFontType2");
    counts->descriptors += count_of(bytes, size, "/FontName");
    counts->files += count_of(bytes, size, "/FontFile");
    counts->layers += count_of(bytes, size, "/OCProperties");
    counts->lines += count_of(bytes, size, "/Subtype/Line") + count_of(bytes, size, "/Subtype /Line");
    counts->lines += count_of(bytes, size, "/Poly");
    counts->states += count_of(bytes, size, "/OFF");
    counts->units += count_of(bytes, size, "/UserUnit");
}

// Inflates the stream that begins after `from` into a buffer that grows. Returns the size, or 0 if that fails.
static size_t inflate_stream(struct libdeflate_decompressor *inflater, const char *from, const char *end, char **into,
                             size_t *room)
{
    const size_t near = (size_t)(end - from) < MAX_DICTIONARY ? (size_t)(end - from) : MAX_DICTIONARY;
    const char *data = memmem(from, near, "stream", 6);
    if (!data)
        return 0;
    for (data += 6; data < end && (*data == '\r' || *data == '\n');)
        data++;
    for (;;) {
        size_t used, size;
        const enum libdeflate_result result = *into
            ? libdeflate_zlib_decompress_ex(inflater, data, (size_t)(end - data), *into, *room, &used, &size)
            : LIBDEFLATE_INSUFFICIENT_SPACE;
        if (result == LIBDEFLATE_SUCCESS)
            return size;
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE || *room >= MAX_STREAM)
            return 0;
        free(*into);
        *room = *room ? 4 * *room : 1UL << 20;
        if (!(*into = malloc(*room)))
            return 0;
    }
}

struct survey survey_document(const char *bytes, size_t size)
{
    struct counts counts = { 0 };
    count(&counts, bytes, size);
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    const char *end = bytes + size;
    char *objects = NULL;
    size_t room = 0, total = 0;
    for (const char *at = bytes; inflater && total < MAX_OBJECTS && (at = memmem(at, (size_t)(end - at), "/ObjStm", 7));) {
        at += 7;
        const size_t inflated = inflate_stream(inflater, at, end, &objects, &room);
        if (inflated)
            count(&counts, objects, inflated);
        // A failed attempt costs time as well.
        total += inflated ? inflated : 1UL << 16;
    }
    free(objects);
    if (inflater)
        libdeflate_free_decompressor(inflater);
    // Object streams of an encrypted document cannot be read here.
    const bool locked = count_of(bytes, size, "/ObjStm") > 0 && count_of(bytes, size, "/Encrypt") > 0;
    const bool foreign = counts.descriptors > counts.files || counts.cid_fonts > counts.descriptors;
    // Usage rights of Adobe Reader cover bytes as signatures do.
    const size_t rights = count_of(bytes, size, "/TransformMethod/UR") + count_of(bytes, size, "/TransformMethod /UR");
    return (struct survey) {
        .foreign_glyphs = locked || (counts.cid_fonts > 0 && foreign),
        .hidden_layers = locked || (counts.layers > 0 && counts.states > 0),
        .bare_lines = locked || counts.lines > 0,
        .user_units = locked || counts.units > 0,
        .is_signed = count_of(bytes, size, "/ByteRange") > rights,
        .is_archive = memmem(bytes, size, "pdfaid:part", 11) != NULL,
    };
}
