// Runs ImageMagick's command line for one request, inside a sandbox:
//
//   imagemagick <private directory> <directory of conversions> <readable directory>...
//
// stdin   {"arguments":text}: the arguments of `magick`, each followed by U+001F
// fd 3    {"ready":true} once, then {"result":{"severity":number,"reason":text}}; 0: no error. The numbers are those of
//         MagickCore/exception.h.
#include <MagickWand/MagickWand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "message.h"
#include "sandbox.h"

// The policy allows 1200 MiB of pixels; the libraries take the rest.
#define MAX_MEMORY (2000UL << 20)
#define MAX_ARGUMENTS 20000
#define SEPARATOR '\x1f'

// The most severe exception so far.
static int worst;
static char worst_reason[200];

static void remember(const ExceptionType severity, const char *reason, const char *description)
{
    if ((int)severity <= worst)
        return;
    worst = severity;
    snprintf(worst_reason, sizeof worst_reason, "%s %s", reason ? reason : "", description ? description : "");
    // It is sent as a JSON string.
    for (char *letter = worst_reason; *letter; letter++)
        if (*letter < ' ' || *letter > '~' || *letter == '"' || *letter == '\\')
            *letter = ' ';
}

static void send_outcome(void)
{
    char line[sizeof worst_reason + 100];
    snprintf(line, sizeof line, "{\"result\":{\"severity\":%d,\"reason\":\"%s\"},\"last\":true}\n", worst, worst_reason);
    send_line(line);
}

// ImageMagick cannot continue, usually without memory.
static void give_up(const ExceptionType severity, const char *reason, const char *description)
{
    remember(severity, reason, description);
    send_outcome();
    _exit(0);
}

static void run(char *arguments)
{
    static char *list[MAX_ARGUMENTS] = { "magick" };
    int count = 1;
    for (char *end; count < MAX_ARGUMENTS && (end = strchr(arguments, SEPARATOR)); arguments = end + 1) {
        *end = 0;
        list[count++] = arguments;
    }
    ImageInfo *settings = AcquireImageInfo();
    ExceptionInfo *exception = AcquireExceptionInfo();
    MagickImageCommand(settings, count, list, NULL, exception);
    CatchException(exception);
    send_outcome();
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    const char *private[] = { arguments[1], NULL };
    const char *conversions[] = { arguments[2], NULL };
    const struct sandbox sandbox = { (const char **)arguments + 3, private, conversions };
    if (enter_sandbox(&sandbox) < 0)
        return 3;
    const struct rlimit memory = { MAX_MEMORY, MAX_MEMORY };
    if (setrlimit(RLIMIT_AS, &memory))
        return 3;
    MagickCoreGenesis("magick", MagickFalse);
    SetWarningHandler(remember);
    SetErrorHandler(remember);
    SetFatalErrorHandler(give_up);
    send_line("{\"ready\":true}\n");

    char *line = NULL;
    size_t capacity = 0;
    if (getline(&line, &capacity, stdin) <= 0)
        _exit(0);
    char *text = text_member(line, "arguments");
    if (!text)
        return 2;
    run(text);
    // The service ends this process.
    pause();
}
