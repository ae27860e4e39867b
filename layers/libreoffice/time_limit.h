// Limits of the processor time of LibreOffice. When one is reached, the process sends an error and exits.
#ifndef TIME_LIMIT_H
#define TIME_LIMIT_H

#include "extent.h"

// Limits the search for the pages of a document that extends too far.
void limit_search(int seconds, const struct extent *);

// Limits the layout of a text document, which LibreOffice may repeat forever.
void limit_layout(int seconds);

void remove_time_limit(void);

#endif
