#ifndef RIGHT_TO_LEFT_H
#define RIGHT_TO_LEFT_H

#include <stdbool.h>
#include <stddef.h>

#include "replacements.h"

// A character of a line and the edges of its glyph, or a text that replaces several, with one of its characters.
struct placed {
    unsigned code;
    float left, right, top, bottom;
    // Whether PDFium has added it.
    bool generated;
    const struct replacement *replacement;
    // Quarter turns counterclockwise, which the edges do not include.
    int turns;
    // Set by order_line.
    size_t index;
};

// Whether a character has a direction of its own.
bool is_strong(unsigned code);

// Whether a line has Hebrew or Arabic letters, and no marks on them, whose places say nothing about their order.
bool needs_order(const struct placed *line, size_t count);

// Puts the characters of a line into the order in which they are read, and returns their new number. Adds spaces where there are
// gaps, for which `line` must have as many places again.
size_t order_line(struct placed *line, size_t count);

#endif
