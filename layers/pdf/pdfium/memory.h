// Limits the memory of this process, and records whether an allocation has failed because of it.
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>

// Limits the memory that the process may map to `bytes`. A crash after a failed allocation is reported as
// SOURCE_TOO_LARGE.
void limit_memory(size_t bytes);

// Raises the limit by `bytes`, replacing what the last call allowed. The output image must not count.
void allow_extra_memory(size_t bytes);

// Whether an allocation has failed. PDFium then leaves out parts of the page.
bool memory_exhausted(void);

// Returns freed memory to the system if there is a lot of it. The few MB that a page needs are kept for the next
// page.
void trim_heap(void);

#endif
