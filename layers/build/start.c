#include <unistd.h>

// Replaces the C library's `__libc_start_main`, whose newest version is missing in older libraries.
void __wrap___libc_start_main(int (*program)(int, char **, char **), int count, char **arguments)
{
    _exit(program(count, arguments, arguments + count + 1));
}
