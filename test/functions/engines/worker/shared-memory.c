// A worker that keeps memory in a shared mapping, which does not count as resident once its pages are unmapped. If the
// operation is "file", it keeps a deleted file, of which it has mapped only one page.
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP (16UL << 20)
#define MOST (512UL << 20)

int main(void)
{
    static const char ready[] = "{\"ready\":true}\n";
    char line[4096];
    if (write(3, ready, sizeof ready - 1) < 0 || !fgets(line, sizeof line, stdin))
        return 1;
    if (strstr(line, "\"file\"")) {
        static char block[1 << 20] = { 1 };
        const int file = open("large", O_RDWR | O_CREAT, 0600);
        for (int written = 0; written < 60; written++)
            if (write(file, block, sizeof block) < 0)
                return 1;
        if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED || unlink("large"))
            return 1;
        close(file);
        for (;;)
            pause();
    }
    for (size_t kept = 0; kept < MOST; kept += STEP) {
        char *memory = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return 1;
        memset(memory, 1, STEP);
        madvise(memory, STEP, MADV_DONTNEED);
    }
    for (;;)
        pause();
}
