// Starts a program that is shut in before its first instruction:
//
//   enter [--pipes <directory>] <private directory> <directory of conversions> <readable>... -- <program> <argument>...
//
// It exits with 2 for bad arguments, 3 where it cannot be shut in, and 4 where the program cannot be started.
#include <string.h>
#include <unistd.h>

#include "sandbox.h"

int main(int count, char **arguments)
{
    const char *pipes = count > 2 && !strcmp(arguments[1], "--pipes") ? arguments[2] : NULL;
    if (pipes)
        arguments += 2, count -= 2;
    int end = 3;
    while (end < count && strcmp(arguments[end], "--"))
        end++;
    if (end + 1 >= count)
        return 2;
    arguments[end] = NULL;
    char **program = arguments + end + 1;
    const char *private[] = { arguments[1], NULL };
    const char *conversions[] = { arguments[2], NULL };
    const struct sandbox sandbox = { (const char **)arguments + 3, private, conversions, *program, pipes };
    const int shut = enter_sandbox(&sandbox);
    if (shut < 0)
        return 3;
    static const char open[] = "The files stay open: this kernel has no Landlock.\n";
    if (shut && write(2, open, sizeof open - 1) < 0)
        return 3;
    execv(*program, program);
    return 4;
}

// What calls main in place of the C library's own, of which some machines have an older one than the compiler; see compile.ts.
void __ours_start_main(int (*program)(int, char **), int count, char **arguments)
{
    _exit(program(count, arguments));
}
