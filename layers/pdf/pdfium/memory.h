// Limits the memory of this process, and remembers whether an allocation has failed because of it.
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>

// From now on the process may map at most `bytes`. A crash after a failed allocation is reported as SOURCE_TOO_LARGE.
void limit_memory(size_t bytes);

// Allows `bytes` more than the limit, instead of what the last call allowed. The output image must not count.
void allow_extra_memory(size_t bytes);

// Whether an allocation has failed. PDFium then leaves out parts of the page.
bool memory_exhausted(void);

// Returns freed memory to the system if there is much of it. The few MB that a page takes are kept for the next one.
void give_memory_back(void);

#endif
