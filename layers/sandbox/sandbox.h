#ifndef SANDBOX_H
#define SANDBOX_H

// Puts this process into a sandbox permanently: no sockets, no other programs or processes, no root capabilities, and
// in the file system only the listed paths. It writes no core files and exits with its parent.
struct sandbox {
    // Folders and files. NULL-terminated.
    const char **readable;
    // The private directory, which may be read, listed and changed.
    const char *directory;
    // The only program that may be started, or NULL for none.
    const char *program;
    // The only descriptor from which that program can be started with execveat, or 0 for none; see enter.c.
    int start;
};

// Parts of the sandbox that the kernel does not provide.
enum {
    // No Landlock (before 5.13, or disabled): files stay accessible.
    SANDBOX_FILES_OPEN = 1,
    // No system call filter. Only possible with SANDBOX=best-effort in the environment.
    SANDBOX_CALLS_OPEN = 2,
};

// Returns the missing parts, 0 if none, or -1 if the process must not continue. It must not continue without a system
// call filter, unless the variable SANDBOX is `best-effort`. On AWS Lambda the function's own filter denies prctl,
// and with it every way to set another filter.
int enter_sandbox(const struct sandbox *sandbox);

// Puts an engine that starts no other program into its sandbox, or exits with 3. The arguments are its private
// directory and the paths that it may read, NULL-terminated.
void enter_engine_sandbox(char **arguments);

#endif
