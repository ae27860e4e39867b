#include "memory.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "message.h"

static volatile sig_atomic_t exhausted;

// The C library's own functions, which the ones below replace in all libraries of this process. AddressSanitizer has
// its own.
#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t size)
{
    void *block = __libc_malloc(size);
    if (!block)
        exhausted = 1;
    return block;
}

void *calloc(size_t count, size_t size)
{
    void *block = __libc_calloc(count, size);
    if (!block)
        exhausted = 1;
    return block;
}

void *realloc(void *old, size_t size)
{
    void *block = __libc_realloc(old, size);
    if (!block && size)
        exhausted = 1;
    return block;
}
#endif

bool memory_exhausted(void)
{
    return exhausted;
}

// Maximum freed memory that the process keeps.
#define KEPT_MEMORY (48UL << 20)

void trim_heap(void)
{
    const struct mallinfo2 heap = mallinfo2();
    if (heap.arena - heap.uordblks > KEPT_MEMORY)
        malloc_trim(0);
}

#ifndef __SANITIZE_ADDRESS__
// PDFium aborts when it cannot continue without memory.
static void on_crash(int number)
{
    if (exhausted)
        fail_out_of_memory();
    signal(number, SIG_DFL);
    raise(number);
}
#endif

static size_t limit;

void allow_extra_memory(size_t bytes)
{
    const struct rlimit soft = { limit + bytes, RLIM_INFINITY };
#ifndef __SANITIZE_ADDRESS__
    // The limit only stops hostile documents, so a process without it still works.
    if (setrlimit(RLIMIT_AS, &soft))
        perror("setrlimit");
#else
    (void)soft;
#endif
}

void limit_memory(size_t bytes)
{
    // Allocates the pixels of a page on the heap too, instead of mapping them again for every page.
    mallopt(M_MMAP_THRESHOLD, KEPT_MEMORY / 2);
    mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
    limit = bytes;
    allow_extra_memory(0);
#ifndef __SANITIZE_ADDRESS__
    const int crashes[] = { SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE };
    for (size_t index = 0; index < sizeof crashes / sizeof *crashes; index++)
        signal(crashes[index], on_crash);
#endif
}
