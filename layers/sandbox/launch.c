// Starts a program in its own process group, with a lower priority, in the session of its parent but without its terminal:
//
//   launch <increment of the nice value> <program> <argument>...
//
// A new session would also have its own process group, but Linux gives every session the same share of the processor
// (sched_autogroup_enabled; see sched(7)). On Linux 6.18, a browser with many busy threads then delayed all other sessions,
// including that of the service, by up to 3 s. Within a session, the kernel compares threads by their nice values.
// It exits with 2 for bad arguments, 3 if it cannot prepare the process, and 4 if the program cannot be started.
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Detaches from the terminal. Otherwise, the program could type into the terminal that the service was started from.
static int leave_terminal(void)
{
    const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal < 0)
        return 0;
    const int failed = ioctl(terminal, TIOCNOTTY);
    close(terminal);
    return failed;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    if (setpgid(0, 0) || leave_terminal())
        return 3;
    errno = 0;
    // The program can still do its work at a higher priority.
    if (nice(atoi(arguments[1])) == -1 && errno)
        perror("nice");
    execv(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 4;
}
