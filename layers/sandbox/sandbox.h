// Shuts this process in, for good: no sockets, no other programs, no other processes, nothing of root's might, and of
// the file system only what is named; no core files, and an end with its parent's. Where the kernel has no Landlock (before 5.13, or switched off) the files stay open and the rest holds.

// Folders and files, each list ended by NULL. What is in `entered` may be read and written by its name, but not listed: names of
// directories there are random, so nobody finds those of others.
struct sandbox {
    const char **readable;
    const char **writable;
    const char **entered;
    // The one program that may be started, and nothing but it; NULL for none.
    const char *program;
    // A folder in which it may make sockets that others on this machine can call, while it calls nobody; NULL for no sockets.
    const char *pipes;
};

// Answers 0 where all of it holds, 1 where files stay open, -1 where a rule that the kernel knows could not be set.
int enter_sandbox(const struct sandbox *sandbox);
