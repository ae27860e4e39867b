#include "time_limit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#include "message.h"

// The answer to send if LibreOffice takes too long, prepared for the signal handler that sends it.
static char too_long[256];

static void stop(int signal)
{
    (void)signal;
    send_line(too_long);
    _exit(0);
}

// Sends `too_long` and exits once the process has used that many more seconds of CPU time. 0 removes the limit.
static void limit_time(int seconds)
{
    const struct itimerval time = { { 0, 0 }, { seconds, 0 } };
    // Without the limit, the service's own deadline ends the search.
    if (signal(SIGPROF, stop) == SIG_ERR || setitimer(ITIMER_PROF, &time, NULL))
        perror("setitimer");
}

void limit_search(int seconds, const struct extent *extent)
{
    format_error(too_long, sizeof too_long, "RESULT_TOO_LARGE", EXTENT_VALUES, extent->sheet, extent->cell);
    limit_time(seconds);
}

void limit_layout(int seconds)
{
    format_error(too_long, sizeof too_long, "CONVERSION_FAILED", "\"seconds\":%d", seconds);
    limit_time(seconds);
}

void remove_time_limit(void)
{
    limit_time(0);
}
