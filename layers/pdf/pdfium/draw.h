#ifndef DRAW_H
#define DRAW_H

#include "canvas.h"

// One page of a request: the size of the whole page in pixels, the requested part of it, what to do with a page that
// PDFium fails on or leaves empty, and its resolution.
struct frame {
    int page;
    int page_width, page_height;
    int left, top, width, height;
    // 1: read the pixels from a file that another engine drew. 2: draw it, and accept that it is empty.
    int other;
    // Dots per inch, written into the file.
    double x_density, y_density;
};

struct drawing {
    enum color color;
    int transparent;
    // Quarter turns clockwise, added to the page's own rotation.
    int turns;
    int annotations;
    // Directory with the pixels of other engines: raster-1 and so on.
    const char *directory;
};

// EMPTY: nothing was drawn although the page has content, or PDFium would draw a picture wrong.
enum drawn { DRAWN, FAILED, EMPTY };

// Draws a frame on the rows of a canvas from `first` on, which must be as `create_canvas` left them.
enum drawn draw_page(const struct frame *, const struct drawing *, struct canvas *, int first);

int channels_of(const struct drawing *);

// Sends a progress event at most once a second; the first call after a pause sends one.
void report_progress(void);

#endif
