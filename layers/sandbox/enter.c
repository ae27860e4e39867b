// Starts a program inside a sandbox from its first instruction:
//
//   enter <private directory> <readable>... -- <program> <argument>...
//
// `enter --probe` prints two numbers: the parts of a sandbox that this kernel does not provide (0 none, 1 files, 2 system calls,
// 3 both), and the version of Landlock, 0 if there is none.
// It exits with 2 for bad arguments, 3 if it cannot enter the sandbox, and 4 if the program cannot be started.
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules.h"
#include "sandbox.h"

#define MAX_DESCRIPTORS 4096

static int probe(void)
{
    const char *nothing[] = { NULL };
    const struct sandbox sandbox = { nothing, NULL, NULL, 0 };
    const int version = find_landlock().version;
    const int missing = enter_sandbox(&sandbox);
    return missing < 0 || dprintf(1, "%d %d\n", missing, version) < 0 ? 3 : 0;
}

// Opens the program as the last descriptor that this process may have, then lowers that limit by one. The only call
// that may start a program names this descriptor. The program closes it at startup, and no other file can ever get
// its number.
static int open_program(const char *program)
{
    struct rlimit limit;
    const int file = open(program, O_PATH | O_CLOEXEC);
    if (file < 0 || getrlimit(RLIMIT_NOFILE, &limit))
        return -1;
    const int last = (limit.rlim_max < MAX_DESCRIPTORS ? limit.rlim_max : MAX_DESCRIPTORS) - 1;
    limit.rlim_cur = limit.rlim_max = last + 1;
    if (setrlimit(RLIMIT_NOFILE, &limit) || dup3(file, last, O_CLOEXEC) < 0)
        return -1;
    close(file);
    limit.rlim_cur = limit.rlim_max = last;
    return setrlimit(RLIMIT_NOFILE, &limit) ? -1 : last;
}

int main(int count, char **arguments)
{
    if (count == 2 && !strcmp(arguments[1], "--probe"))
        return probe();
    int end = 2;
    while (end < count && strcmp(arguments[end], "--"))
        end++;
    if (end + 1 >= count)
        return 2;
    arguments[end] = NULL;
    char **program = arguments + end + 1;
    const int start = open_program(*program);
    if (start < 0)
        return 4;
    const struct sandbox sandbox = { (const char **)arguments + 2, arguments[1], *program, start };
    const int missing = enter_sandbox(&sandbox);
    if (missing < 0)
        return 3;
    static const char warning[] = "Files stay open: this kernel has no Landlock.\n";
    if (missing & SANDBOX_FILES_OPEN && write(2, warning, sizeof warning - 1) < 0)
        return 3;
    syscall(SYS_execveat, start, "", program, environ, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
    // If this sandbox has no filter, a filter of the system may allow only the older call.
    execv(*program, program);
    return 4;
}
