#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdio.h>

#include "right_to_left.h"

// Writes the characters of a line.
typedef void write_segment(FILE *file, struct placed *characters, size_t count);

// Writes the characters of a page so that columns stay below each other, as in `pdftotext -layout`. The direction that most
// characters have comes first.
void write_layout(FILE *file, const struct placed *characters, size_t count, write_segment *write);

#endif
