// Starts Chromium in a separate kind of sandbox, because it needs processes and connections that other engines do not:
//
//   enter [--namespaces] <ports> <private directory> <readable>... -- <chromium> <argument>...
//
// `ports` are those of the proxies for pages, separated by commas. `--namespaces` allows what Chromium needs for its own
// sandbox. Exits with 2 for bad arguments, 3 if it cannot enter the sandbox, 4 if Chromium cannot be started, and 5 if Chromium
// could not create namespaces.
#define _GNU_SOURCE

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "browser_sandbox.h"

#define MAX_PORTS 64
#define MAX_PORT 65535

// Whether this machine lets an ordinary user create a namespace. Chromium would take 50 ms to find out.
static bool allows_namespaces(void)
{
    int status;
    const pid_t child = fork();
    if (child == 0)
        _exit(unshare(CLONE_NEWUSER) ? 1 : 0);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// Returns a port, or 0, on which no proxy listens, for anything else. The C library's functions would need a newer
// library.
static int read_port(const char *text)
{
    int port = 0;
    for (; *text >= '0' && *text <= '9' && port <= MAX_PORT; text++)
        port = 10 * port + (*text - '0');
    return *text || port > MAX_PORT ? 0 : port;
}

int main(int count, char **arguments)
{
    struct browser_sandbox sandbox = { 0 };
    if (count > 1 && !strcmp(arguments[1], "--namespaces"))
        sandbox.namespaces = true, arguments++, count--;
    int end = 3;
    while (end < count && strcmp(arguments[end], "--"))
        end++;
    if (end + 1 >= count)
        return 2;
    int ports[MAX_PORTS + 1] = { 0 }, used = 0;
    for (char *port = strtok(arguments[1], ","); port && used < MAX_PORTS; port = strtok(NULL, ","))
        if (!(ports[used++] = read_port(port)))
            return 2;
    arguments[end] = NULL;
    if (sandbox.namespaces && !allows_namespaces())
        return 5;
    sandbox.ports = ports;
    sandbox.home = arguments[2];
    sandbox.readable = (const char **)arguments + 3;
    sandbox.program = arguments[end + 1];
    if (enter_browser_sandbox(&sandbox))
        return 3;
    execv(sandbox.program, arguments + end + 1);
    return 4;
}
