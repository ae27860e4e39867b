// What Chromium may still do: read what is named, keep files in its home, start itself, and connect to some ports of any machine by
// TCP. Only a loopback proxy listens on those ports.
struct walls {
    // Folders and files; NULL ends the list.
    const char **readable;
    const char *home;
    const char *program;
    // 0 ends the list.
    const int *ports;
    // Whether Chromium's own sandbox may make namespaces.
    int namespaces;
};

// Returns 0 also where the kernel has no Landlock; -1 where the process must not go on.
int close_files(const struct walls *walls);
int close_calls(const struct walls *walls);
