// An image in memory that pages are drawn on.
#ifndef CANVAS_H
#define CANVAS_H

#include <stddef.h>

enum colour { RGB, GRAY, MONO };

// Rows are `stride` bytes apart and begin with `lead` bytes before their first pixel. The last of these is the filter type of a
// PNG: once a canvas is shrunk, the lead is that byte only, and the image can be compressed without copying it.
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

// Returns a canvas that is white, or transparent with four channels; its bytes are NULL if there is no memory.
struct canvas create_canvas(int width, int height, int channels);

void free_canvas(struct canvas *);

// Whether every pixel of the rows is what `create_canvas` left.
int is_empty(const struct canvas *, int first, int rows);

// Moves the part of `rows` rows from row `first` that is not white to row `target`, at the left edge. Sets the part's size.
// All-white rows stay whole.
void trim(struct canvas *, int first, int rows, int columns, int target, int *width, int *height);

// Makes the canvas smaller, keeping its top left part, and its rows as short as they can be.
void shrink(struct canvas *, int width, int height);

// Turns grey pixels into black and white by error diffusion after Floyd and Steinberg. Returns 0 if there is no memory.
int dither(struct canvas *);

#endif
