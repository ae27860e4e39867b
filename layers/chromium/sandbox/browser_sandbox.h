#ifndef BROWSER_SANDBOX_H
#define BROWSER_SANDBOX_H

#include <stdbool.h>

// Chromium may only read the listed paths, write files in its home, start itself, and connect by TCP to some ports of
// any machine. Only loopback proxies listen on those ports.
struct browser_sandbox {
    // Folders and files. NULL-terminated.
    const char **readable;
    const char *home;
    const char *program;
    // Zero-terminated.
    const int *ports;
    // Whether Chromium's own sandbox may create namespaces.
    bool namespaces;
};

// Returns 0, or -1 if the process must not continue. It may continue without Landlock, but without a filter only with
// SANDBOX=best-effort.
int enter_browser_sandbox(const struct browser_sandbox *sandbox);

#endif
