// An image in memory that pages are drawn on.
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stddef.h>

enum color { COLOR_RGB, COLOR_GRAY, COLOR_MONO };

// Rows are `stride` bytes apart and start with `lead` bytes before their first pixel. The last of these is the filter
// type of a PNG. Once a canvas is shrunk, the lead is only that byte, and the image can be compressed without copying
// it.
struct canvas {
    unsigned char *bytes;
    int width, height, channels;
    size_t stride, lead;
};

// Returns the first pixel of a row.
static inline unsigned char *row_of(const struct canvas *canvas, int y)
{
    return canvas->bytes + y * canvas->stride + canvas->lead;
}

// Returns a canvas that is white or, with four channels, transparent. Its bytes are NULL if out of memory.
struct canvas create_canvas(int width, int height, int channels);

void free_canvas(struct canvas *);

// Whether every pixel of the rows is as `create_canvas` left it.
bool is_blank(const struct canvas *, int first, int rows);

// Moves the non-white part of `rows` rows from row `first` to row `target`, at the left edge, and sets the part's
// size. Rows that are entirely white keep their width.
void trim(struct canvas *, int first, int rows, int columns, int target, int *width, int *height);

// Shrinks the canvas to its top left part, with the shortest possible rows.
void shrink(struct canvas *, int width, int height);

// Turns the colors of a canvas with four channels into grays. Transparency is kept.
void remove_color(struct canvas *);

// Turns gray pixels into black and white with Floyd-Steinberg error diffusion. Transparency is kept. Returns false if
// out of memory.
bool dither(struct canvas *);

#endif
