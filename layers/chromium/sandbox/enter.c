// Starts Chromium in a separate kind of sandbox, because it needs processes and connections that other engines do not:
//
//   enter [--namespaces] <ports> <private directory> <readable>... -- <chromium> <argument>...
//
// `ports` are those of the proxies for pages, separated by commas. `--namespaces` allows what Chromium needs for its own
// sandbox. Exits with 2 for bad arguments, 3 if it cannot enter the sandbox, and 4 if Chromium cannot be started.
#define _GNU_SOURCE

#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "walls.h"

// Larger than any result may be.
#define FILE_BYTES (4ull << 30)
#define MOST_PORTS 64

// Keeps only reading, because the project may be in another user's folder.
static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct held[2], kept[2] = { { 0 } };
    if (syscall(SYS_capget, &header, held))
        return -1;
    kept[0].effective = kept[0].permitted = held[0].permitted & 1 << CAP_DAC_READ_SEARCH;
    return syscall(SYS_capset, &header, kept);
}

static int is_best_effort(void)
{
    const char *mode = getenv("SANDBOX");
    return mode && !strcmp(mode, "best-effort");
}

static int enter(const struct walls *walls)
{
    const struct rlimit none = { 0, 0 }, file = { FILE_BYTES, FILE_BYTES };
    if (setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_FSIZE, &file) || drop_capabilities())
        return -1;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return is_best_effort() ? 0 : -1;
    if (close_files(walls))
        return -1;
    return close_calls(walls) && !is_best_effort() ? -1 : 0;
}

int main(int count, char **arguments)
{
    struct walls walls = { 0 };
    if (count > 1 && !strcmp(arguments[1], "--namespaces"))
        walls.namespaces = 1, arguments++, count--;
    int end = 3;
    while (end < count && strcmp(arguments[end], "--"))
        end++;
    if (end + 1 >= count)
        return 2;
    int ports[MOST_PORTS + 1] = { 0 }, used = 0;
    for (char *port = strtok(arguments[1], ","); port && used < MOST_PORTS; port = strtok(NULL, ","))
        ports[used++] = atoi(port);
    arguments[end] = NULL;
    walls.ports = ports;
    walls.home = arguments[2];
    walls.readable = (const char **)arguments + 3;
    walls.program = arguments[end + 1];
    if (enter(&walls))
        return 3;
    execv(walls.program, arguments + end + 1);
    return 4;
}

// Called in place of the C library's own function, so that the program runs with an older library than the compiler's; see
// layers/build/compile.ts.
void __ours_start_main(int (*program)(int, char **), int count, char **arguments)
{
    _exit(program(count, arguments));
}
