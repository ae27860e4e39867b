// Declares memmem.
#define _GNU_SOURCE

#include "images.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "big_endian.h"
#include "message.h"

// Maximum pixels of one image. A town plan scanned at 600 DPI has half as many.
#define MAX_IMAGE_PIXELS 1e9

// Maximum depth of nested forms to examine, as in PDFium itself.
#define MAX_DEPTH 12

static void check_size(FPDF_PAGEOBJECT image)
{
    unsigned width = 0, height = 0;
    if (!FPDFImageObj_GetImagePixelSize(image, &width, &height) || (double)width * height <= MAX_IMAGE_PIXELS)
        return;
    send_error("SOURCE_TOO_LARGE", "\"width\":%u,\"height\":%u,\"max\":%.0f", width, height, MAX_IMAGE_PIXELS);
    // Earlier pages may already be written. The process is replaced, as after every failure of this kind.
    _exit(1);
}

// Returns the length of a JBIG2 segment's header (ITU-T T.88, 7.2), or 0 if it is incomplete.
static size_t header_length(const unsigned char *segment, size_t size)
{
    if (size < 11)
        return 0;
    const uint32_t number = read32(segment);
    size_t at = 6;
    uint32_t references = segment[5] >> 5;
    if (references == 7) {
        references = read32(segment + 5) & 0x1fffffff;
        at = 9 + ((size_t)references + 8) / 8;
    }
    at += (size_t)references * (number <= 256 ? 1 : number <= 65536 ? 2 : 4);
    at += segment[4] & 0x40 ? 4 : 1;
    return at + 4 <= size ? at + 4 : 0;
}

// Whether a generic region has no coded bytes before the final marker. Encoders may leave out bytes that decoders add
// again.
static bool region_has_no_data(const unsigned char *data, uint32_t length)
{
    enum { REGION = 18, MARKER = 2, TEMPLATE = 6, EXTENDED = 16 };
    // The template selects the number of adaptive pixels, of two bytes each.
    const uint32_t pixels = data[17] & TEMPLATE ? 1 : data[17] & EXTENDED ? 12 : 4;
    return length <= REGION + 2 * pixels + MARKER;
}

// Whether PDFium misreads a JBIG2 image. It treats the operator REPLACE as OR, draws halftone regions that skip
// points of their grid incorrectly, and does not draw images with generic regions that are compressed as a fax or
// have no coded bytes.
static bool misreads_jbig2(const unsigned char *bytes, size_t size)
{
    enum { PAGE = 48, HALFTONE = 20, GENERIC = 36, REPLACE = 4, SKIPS = 8, FAX = 1, BLACK = 4 };
    uint32_t painted = 0;
    for (size_t at = 0, header; at < size && (header = header_length(bytes + at, size - at)); ) {
        const int kind = bytes[at + 4] & 0x3f;
        at += header;
        const uint32_t length = read32(bytes + at - 4);
        const unsigned char *data = bytes + at;
        if (length > size - at || length < 18) {
            // A region without a length is the last one, or the data is damaged.
            if (length > size - at)
                return false;
        } else if (kind == PAGE) {
            if (data[16] & BLACK)
                painted = UINT32_MAX;
        } else if (kind >= 4 && kind <= 43 && kind != 16) {
            const uint32_t height = read32(data + 4), top = read32(data + 12);
            if ((data[16] & 7) == REPLACE && top < painted)
                return true;
            const int family = kind & ~3;
            if (family == HALFTONE && data[17] & SKIPS)
                return true;
            if (family == GENERIC && (data[17] & FAX || region_has_no_data(data, length)))
                return true;
            // Other regions are only referenced by later ones.
            const bool immediate = kind & 2;
            if (immediate && top + height > painted)
                painted = top + height;
        }
        at += length;
    }
    return false;
}

// Whether PDFium misreads a JPEG 2000 image. It draws images with a palette of less than 256 colors black.
static bool misreads_jpx(const unsigned char *bytes, size_t size)
{
    static const unsigned char start[] = { 0xff, 0x4f, 0xff, 0x51 };
    const unsigned char *stream = memmem(bytes, size, start, sizeof start);
    // Number of components, and depth of the first component minus 1.
    return stream && (size_t)(bytes + size - stream) > 42 && stream[40] == 0 && stream[41] == 1 && stream[42] < 7;
}

static bool is_misread(FPDF_PAGEOBJECT image)
{
    char filter[16] = "";
    if (FPDFImageObj_GetImageFilterCount(image) != 1
        || FPDFImageObj_GetImageFilter(image, 0, filter, sizeof filter) > sizeof filter)
        return false;
    const bool is_jbig2 = !strcmp(filter, "JBIG2Decode");
    if (!is_jbig2 && strcmp(filter, "JPXDecode"))
        return false;
    const unsigned long size = FPDFImageObj_GetImageDataRaw(image, NULL, 0);
    unsigned char *bytes = malloc(size + 1);
    if (!bytes)
        return false;
    FPDFImageObj_GetImageDataRaw(image, bytes, size);
    const bool misread = is_jbig2 ? misreads_jbig2(bytes, size) : misreads_jpx(bytes, size);
    free(bytes);
    return misread;
}

static bool examine(FPDF_PAGEOBJECT object, int depth)
{
    bool misread = false;
    const int kind = FPDFPageObj_GetType(object);
    if (kind == FPDF_PAGEOBJ_FORM && depth < MAX_DEPTH)
        for (int index = FPDFFormObj_CountObjects(object); index-- > 0;)
            misread |= examine(FPDFFormObj_GetObject(object, index), depth + 1);
    if (kind != FPDF_PAGEOBJ_IMAGE)
        return misread;
    check_size(object);
    return is_misread(object);
}

bool has_misread_image(FPDF_PAGE page)
{
    bool misread = false;
    for (int index = FPDFPage_CountObjects(page); index-- > 0;)
        misread |= examine(FPDFPage_GetObject(page, index), 0);
    return misread;
}
