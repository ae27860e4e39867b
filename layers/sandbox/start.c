#include <unistd.h>

// Called in place of the C library's own function, so that a program runs with an older library than the compiler's; see
// layers/build/compile.ts.
void __ours_start_main(int (*program)(int, char **), int count, char **arguments)
{
    _exit(program(count, arguments));
}
