// Puts this process into a sandbox, for good: no sockets, no other programs, no other processes, no root capabilities, and of the
// file system only what is named. It leaves no core files and ends with its parent.

// Folders and files; NULL ends each list. What is below `entered` may be read and written by name but not listed: names of
// directories there are random, so one conversion cannot find another.
struct sandbox {
    const char **readable;
    const char **writable;
    const char **entered;
    // The one program that may be started; NULL for none.
    const char *program;
    // A folder in which the process may create Unix sockets. It can be connected to, but cannot connect. NULL for no sockets.
    const char *pipes;
    // The descriptor by which that program is started with execveat, and no other; see enter.c. 0 for none.
    int start;
};

// Parts of the sandbox that the kernel did not provide.
enum {
    // No Landlock (before 5.13, or switched off): files stay open.
    SANDBOX_FILES_OPEN = 1,
    // No system call filter: only with SANDBOX=best-effort in the environment.
    SANDBOX_CALLS_OPEN = 2,
};

// Returns the parts that do not hold, 0 where all of it does, and -1 where the process must not go on. Without a system call
// filter it must not, unless the variable SANDBOX is `best-effort`: on AWS Lambda the function's own filter denies prctl, and
// with it every way to set another.
int enter_sandbox(const struct sandbox *sandbox);
