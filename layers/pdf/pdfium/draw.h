#ifndef DRAW_H
#define DRAW_H

#include <stdbool.h>

#include "canvas.h"

// SUBSTITUTE_RASTER: the pixels are in a file that another engine drew. SUBSTITUTE_MAY_BE_EMPTY: draw the page, even if
// it stays empty.
enum substitute { SUBSTITUTE_NONE, SUBSTITUTE_RASTER, SUBSTITUTE_MAY_BE_EMPTY };

// Upper bounds of a request, which no caller exceeds.
#define MAX_FRAMES 10000
#define MAX_SIDE 10000000
#define MAX_DENSITY 65535

// One page of a request: the size of the whole page in pixels, the requested part of it, the treatment of a page that
// PDFium fails on or leaves empty, and its resolution.
struct frame {
    int page;
    int page_width, page_height;
    int left, top, width, height;
    enum substitute substitute;
    // Dots per inch, written into the file.
    double x_density, y_density;
};

struct drawing {
    enum color color;
    bool transparent;
    // Quarter turns clockwise, added to the page's own rotation.
    int turns;
    bool annotations;
};

// OUTCOME_DOUBTFUL: nothing was drawn although the page has content, or PDFium would draw an image wrong.
enum outcome { OUTCOME_DRAWN, OUTCOME_FAILED, OUTCOME_DOUBTFUL };

// Draws a frame on the rows of a canvas from `first` on, which must be in the state in which `create_canvas` left
// them.
enum outcome draw_page(const struct frame *, const struct drawing *, struct canvas *, int first);

int channels_of(const struct drawing *);

#endif
