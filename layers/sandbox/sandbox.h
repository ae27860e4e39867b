// Puts this process into a sandbox permanently: no sockets, no other programs, no other processes, no root capabilities,
// and in the file system only the listed paths. It writes no core files and ends with its parent.

// Folders and files; NULL ends each list. What is below `entered` may be read and written by name but not listed: names of
// directories there are random, so one conversion cannot find another.
struct sandbox {
    const char **readable;
    const char **writable;
    const char **entered;
    // The only program that may be started, or NULL for none.
    const char *program;
    // The only descriptor from which that program can be started with execveat; see enter.c. 0 for none.
    int start;
};

// Parts of the sandbox that the kernel did not provide.
enum {
    // No Landlock (before 5.13, or disabled): files stay accessible.
    SANDBOX_FILES_OPEN = 1,
    // No system call filter: only with SANDBOX=best-effort in the environment.
    SANDBOX_CALLS_OPEN = 2,
};

// Returns the parts that are missing, 0 if none, or -1 if the process must not continue. Without a system call
// filter it must not, unless the variable SANDBOX is `best-effort`: on AWS Lambda the function's own filter denies prctl, and
// with it every way to set another filter.
int enter_sandbox(const struct sandbox *sandbox);
