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

enum name { CID_FONT, DESCRIPTOR, FONT_FILE, LAYERS, LINE, LINK, OFF, UNIT, ENCRYPT, OBJECTS, RANGE, RIGHTS, NAMES };

// The names that are counted. Several may mean the same.
static const struct { const char *text; enum name name; } KNOWN[] = {
    { "CIDFontType2", CID_FONT }, { "FontName", DESCRIPTOR }, { "FontFile", FONT_FILE }, { "OCProperties", LAYERS },
    { "Subtype/Line", LINE }, { "Subtype /Line", LINE }, { "Poly", LINE }, { "Outlines", LINK }, { "Dest", LINK },
    { "GoTo", LINK }, { "OFF", OFF }, { "UserUnit", UNIT }, { "Encrypt", ENCRYPT }, { "ObjStm", OBJECTS },
    { "ByteRange", RANGE }, { "TransformMethod/UR", RIGHTS }, { "TransformMethod /UR", RIGHTS },
};

// Counts all names in one pass, because files are large.
static void count(size_t counts[NAMES], const char *bytes, size_t size)
{
    const char *end = bytes + size;
    for (const char *at = bytes; (at = memchr(at, '/', (size_t)(end - at)));) {
        at++;
        for (size_t index = 0; index < sizeof KNOWN / sizeof *KNOWN; index++) {
            const size_t length = strlen(KNOWN[index].text);
            if (length <= (size_t)(end - at) && !memcmp(at, KNOWN[index].text, length))
                counts[KNOWN[index].name]++;
        }
    }
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
    size_t counts[NAMES] = { 0 };
    count(counts, bytes, size);
    // Object streams of an encrypted document cannot be read here.
    const bool locked = counts[OBJECTS] > 0 && counts[ENCRYPT] > 0;
    // Usage rights of Adobe Reader cover bytes as signatures do.
    const bool is_signed = counts[RANGE] > counts[RIGHTS];
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    const char *end = bytes + size;
    char *objects = NULL;
    size_t room = 0, total = 0;
    for (const char *at = bytes; inflater && total < MAX_OBJECTS && (at = memmem(at, (size_t)(end - at), "/ObjStm", 7));) {
        at += 7;
        const size_t inflated = inflate_stream(inflater, at, end, &objects, &room);
        if (inflated)
            count(counts, objects, inflated);
        // A failed attempt costs time as well.
        total += inflated ? inflated : 1UL << 16;
    }
    free(objects);
    if (inflater)
        libdeflate_free_decompressor(inflater);
    const bool foreign = counts[DESCRIPTOR] > counts[FONT_FILE] || counts[CID_FONT] > counts[DESCRIPTOR];
    return (struct survey) {
        .foreign_glyphs = locked || (counts[CID_FONT] > 0 && foreign),
        .hidden_layers = locked || (counts[LAYERS] > 0 && counts[OFF] > 0),
        .bare_lines = locked || counts[LINE] > 0,
        .user_units = locked || counts[UNIT] > 0,
        .has_links = locked || counts[LINK] > 0,
        .is_signed = is_signed,
        .is_archive = memmem(bytes, size, "pdfaid:part", 11) != NULL,
    };
}
