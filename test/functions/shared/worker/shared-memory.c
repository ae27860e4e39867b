// A worker that keeps memory in a shared mapping, which does not count as resident once its pages are unmapped.
#define _GNU_SOURCE

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

// See layers/build/compile.ts.
void __ours_start_main(int (*program)(void))
{
    _exit(program());
}
