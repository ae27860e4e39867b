#include "canvas.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// When edges are trimmed, channel values from the first constant up count as white, and alpha values below the second
// as transparent.
#define WHITE_FROM 247
#define ALPHA_FROM 9

static unsigned char blank_of(const struct canvas *canvas)
{
    return canvas->channels == 4 ? 0 : 0xff;
}

struct canvas create_canvas(int width, int height, int channels)
{
    // PDFium requires aligned rows for four channels.
    const size_t lead = channels == 4 ? 4 : 1;
    struct canvas canvas = { NULL, width, height, channels, (size_t)width * channels + lead, lead };
    // One extra byte, because PDFium assumes that a row ends where the next one begins.
    const size_t size = canvas.stride * height + 1;
    if (channels == 4) {
        canvas.bytes = calloc(size, 1);
    } else if ((canvas.bytes = malloc(size))) {
        memset(canvas.bytes, 0xff, size);
        for (int y = 0; y < height; y++)
            canvas.bytes[y * canvas.stride] = 0;
    }
    return canvas;
}

void free_canvas(struct canvas *canvas)
{
    free(canvas->bytes);
    canvas->bytes = NULL;
}

bool is_blank(const struct canvas *canvas, int first, int rows)
{
    const unsigned char blank = blank_of(canvas);
    const size_t bytes = (size_t)canvas->width * canvas->channels;
    for (int y = first; y < first + rows; y++) {
        const unsigned char *row = row_of(canvas, y);
        if (*row != blank || memcmp(row, row + 1, bytes - 1))
            return false;
    }
    return true;
}

static bool is_blank_pixel(const unsigned char *pixel, int channels)
{
    if (channels == 4)
        return pixel[3] < ALPHA_FROM;
    for (int channel = 0; channel < channels; channel++)
        if (pixel[channel] < WHITE_FROM)
            return false;
    return true;
}

// Returns the first column from 0 to `end` that is not blank, or `end`.
static int first_column(const unsigned char *row, int end, int channels)
{
    int x = 0;
    while (x < end && is_blank_pixel(row + (size_t)x * channels, channels))
        x++;
    return x;
}

// Returns the column after the last one that is not blank, or `start` if there is none from there to `end`.
static int end_column(const unsigned char *row, int start, int end, int channels)
{
    while (end > start && is_blank_pixel(row + (size_t)(end - 1) * channels, channels))
        end--;
    return end;
}

void trim(struct canvas *canvas, int first, int rows, int columns, int target, int *width, int *height)
{
    const int channels = canvas->channels;
    int top = -1, bottom = first, left = columns, right = 0;
    for (int y = first; y < first + rows; y++) {
        const unsigned char *row = row_of(canvas, y);
        // Most blank rows are exactly blank, which the C library detects faster.
        if (*row == blank_of(canvas) && !memcmp(row, row + 1, (size_t)columns * channels - 1))
            continue;
        if (first_column(row, columns, channels) == columns)
            continue;
        top = top < 0 ? y : top;
        bottom = y + 1;
        left = first_column(row, left, channels);
        right = end_column(row, right, columns, channels);
    }
    if (top < 0)
        top = first, bottom = first + rows, left = 0, right = columns;
    *width = right - left;
    *height = bottom - top;
    const size_t kept = (size_t)*width * channels, whole = (size_t)canvas->width * channels;
    for (int y = 0; y < *height; y++) {
        unsigned char *row = row_of(canvas, target + y);
        memmove(row, row_of(canvas, top + y) + (size_t)left * channels, kept);
        memset(row + kept, blank_of(canvas), whole - kept);
    }
    for (int y = target + *height; y < first + rows; y++)
        memset(row_of(canvas, y), blank_of(canvas), whole);
}

void shrink(struct canvas *canvas, int width, int height)
{
    const size_t stride = (size_t)width * canvas->channels + 1;
    canvas->width = width;
    canvas->height = height;
    for (int y = 0; stride != canvas->stride && y < height; y++) {
        unsigned char *row = canvas->bytes + y * stride;
        memmove(row + 1, row_of(canvas, y), stride - 1);
        *row = 0;
    }
    canvas->stride = stride;
    canvas->lead = 1;
}

void remove_color(struct canvas *canvas)
{
    for (int y = 0; y < canvas->height; y++) {
        unsigned char *pixel = row_of(canvas, y);
        // PDFium's weights, which do not change grays.
        for (int x = 0; x < canvas->width; x++, pixel += 4)
            pixel[0] = pixel[1] = pixel[2] = (pixel[0] * 30 + pixel[1] * 59 + pixel[2] * 11) / 100;
    }
}

bool dither(struct canvas *canvas)
{
    const int width = canvas->width, channels = canvas->channels;
    const size_t size = (width + 2) * sizeof(float);
    // The errors of this row and of the next, with an extra column on either side.
    float *errors = calloc(2, size);
    if (!errors)
        return false;
    float *here = errors, *below = errors + width + 2;
    for (int y = 0; y < canvas->height; y++) {
        unsigned char *pixel = row_of(canvas, y);
        for (int x = 0; x < width; x++, pixel += channels) {
            const bool transparent = channels == 4 && pixel[3] == 0;
            // The color of an invisible pixel must not change its neighbors.
            const float wanted = transparent ? 0 : *pixel + here[x + 1];
            const int given = wanted < 128 ? 0 : 255;
            const float error = (wanted - given) / 16;
            memset(pixel, given, channels == 4 ? 3 : 1);
            here[x + 2] += error * 7;
            below[x] += error * 3;
            below[x + 1] += error * 5;
            below[x + 2] += error;
        }
        float *const next = below;
        below = here;
        here = next;
        memset(below, 0, size);
    }
    free(errors);
    return true;
}
