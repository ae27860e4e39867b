// Runs ImageMagick's command line inside a sandbox:
//
//   imagemagick <private directory> <readable directory>...
//
// See layers/build/protocol/message.h for the protocol. The service starts a new process for each request.
//
// run   "words": those of the command line, the first of which is the program
//       → {"severity":number,"reason":text,"corrupt":flag}: the most severe exception, numbered as in
//         MagickCore/exception.h, or 0, and whether an image was damaged
#include <MagickWand/MagickWand.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "message.h"
#include "sandbox.h"

// The policy allows 1200 MiB of pixels. The rest is for libraries.
#define MAX_MEMORY (2000UL << 20)

// The most severe exception so far.
static int worst;
static char worst_reason[200];
static bool corrupt;

static void remember(const ExceptionType severity, const char *reason, const char *description)
{
    corrupt = corrupt || severity == CorruptImageWarning || severity == CorruptImageError;
    if ((int)severity <= worst)
        return;
    worst = severity;
    snprintf(worst_reason, sizeof worst_reason, "%s %s", reason ? reason : "", description ? description : "");
    // The reason is sent as a JSON string.
    for (char *letter = worst_reason; *letter; letter++)
        if (*letter < ' ' || *letter > '~' || *letter == '"' || *letter == '\\')
            *letter = ' ';
}

static void send_outcome(void)
{
    FILE *answer = begin_answer("result");
    fprintf(answer, "{\"severity\":%d,\"reason\":\"%s\",\"corrupt\":%s}", worst, worst_reason,
            corrupt ? "true" : "false");
    finish_answer(answer);
}

// Called when ImageMagick cannot continue, usually because it is out of memory.
__attribute__((noreturn)) static void give_up(const ExceptionType severity, const char *reason, const char *description)
{
    remember(severity, reason, description);
    send_outcome();
    _exit(0);
}

static void run(const struct request *request)
{
    yyjson_val *words = yyjson_obj_get(request->arguments, "words");
    const size_t count = yyjson_arr_size(words);
    char **list = calloc(count + 1, sizeof *list);
    if (!list)
        fail_out_of_memory();
    size_t index, size;
    yyjson_val *word;
    // The command line changes its words in place.
    yyjson_arr_foreach(words, index, size, word)
        list[index] = ConstantString(yyjson_is_str(word) ? yyjson_get_str(word) : "");
    ImageInfo *settings = AcquireImageInfo();
    ExceptionInfo *exception = AcquireExceptionInfo();
    MagickImageCommand(settings, (int)count, list, NULL, exception);
    CatchException(exception);
    send_outcome();
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    enter_engine_sandbox(arguments + 1);
    const struct rlimit memory = { MAX_MEMORY, MAX_MEMORY };
    if (setrlimit(RLIMIT_AS, &memory))
        return 3;
    MagickCoreGenesis("magick", MagickFalse);
    SetWarningHandler(remember);
    SetErrorHandler(remember);
    SetFatalErrorHandler(give_up);
    serve_requests(run);
    _exit(0);
}
