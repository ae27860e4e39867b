// Starts a program that is in a sandbox from its first instruction:
//
//   enter [--pipes <directory>] <private directory> <directory of conversions> <readable>... -- <program> <argument>...
//
// `enter --probe` prints the parts of a sandbox that this kernel does not provide: 0 none, 1 files, 2 system calls, 3 both.
// It exits with 2 for bad arguments, 3 where it cannot enter the sandbox, and 4 where the program cannot be started.
#include <string.h>
#include <unistd.h>

#include "sandbox.h"

static int probe(void)
{
    const char *nothing[] = { NULL };
    const struct sandbox sandbox = { nothing, nothing, nothing };
    const int missing = enter_sandbox(&sandbox);
    const char digit = '0' + missing;
    return missing < 0 || write(1, &digit, 1) != 1 ? 3 : 0;
}

int main(int count, char **arguments)
{
    if (count == 2 && !strcmp(arguments[1], "--probe"))
        return probe();
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
    const int missing = enter_sandbox(&sandbox);
    if (missing < 0)
        return 3;
    static const char open[] = "Files stay open: this kernel has no Landlock.\n";
    if (missing & SANDBOX_FILES_OPEN && write(2, open, sizeof open - 1) < 0)
        return 3;
    execv(*program, program);
    return 4;
}

// Called in place of the C library's own function, so that the program runs with an older library than the compiler's; see
// layers/build/compile.ts.
void __ours_start_main(int (*program)(int, char **), int count, char **arguments)
{
    _exit(program(count, arguments));
}
