#define _GNU_SOURCE

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWERS 3
#define ERROR_LINE 512
// As in functions/engines/protocol.ts.
#define MAX_ANSWER 400000

// The ID of the current request.
static int id;
static int last_done;
// The answer to send if memory runs out, prepared while there is memory.
static char memory_error[ERROR_LINE];

// The answer being written.
static char *text;
static size_t text_size;

void send_line(const char *line)
{
    for (size_t left = strlen(line); left > 0;) {
        const ssize_t sent = write(ANSWERS, line, left);
        if (sent < 0 && errno == EINTR)
            continue;
        // The answers are no longer read.
        if (sent < 0)
            _exit(1);
        line += sent;
        left -= (size_t)sent;
    }
}

void fail_out_of_memory(void)
{
    send_line(memory_error);
    _exit(1);
}

static void put_error(char *line, size_t size, const char *code, const char *values, va_list list)
{
    char members[ERROR_LINE / 2];
    vsnprintf(members, sizeof members, values, list);
    snprintf(line, size, "{\"id\":%d,\"error\":{\"code\":\"%s\",\"values\":{%s}}}\n", id, code, members);
}

void format_error(char *line, size_t size, const char *code, const char *values, ...)
{
    va_list list;
    va_start(list, values);
    put_error(line, size, code, values, list);
    va_end(list);
}

void send_code(const char *code)
{
    send_error(code, "%s", "");
}

bool disk_is_full(const char *target)
{
    char block[4096] = "";
    const int file = open(target, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    const bool full = file >= 0 && write(file, block, sizeof block) < 0 && (errno == ENOSPC || errno == EDQUOT);
    if (file >= 0)
        close(file);
    return full;
}

void send_error(const char *code, const char *values, ...)
{
    char line[ERROR_LINE];
    va_list list;
    va_start(list, values);
    put_error(line, sizeof line, code, values, list);
    va_end(list);
    send_line(line);
}

void send_heartbeat(int done)
{
    char line[64];
    last_done = done;
    snprintf(line, sizeof line, "{\"id\":%d,\"heartbeat\":%d}\n", id, done);
    send_line(line);
}

void repeat_heartbeat(void)
{
    send_heartbeat(last_done);
}

FILE *begin_answer(const char *kind)
{
    FILE *answer = open_memstream(&text, &text_size);
    if (!answer)
        fail_out_of_memory();
    fprintf(answer, "{\"id\":%d,\"%s\":", id, kind);
    return answer;
}

static void send_too_long(void)
{
    char line[ERROR_LINE];
    snprintf(line, sizeof line,
             "{\"id\":%d,\"error\":{\"code\":\"SOURCE_TOO_LARGE\",\"message\":\"The source has too many parts. "
             "What an engine reports about them is limited to %d kB.\"}}\n", id, MAX_ANSWER / 1000);
    send_line(line);
}

void finish_answer(FILE *answer)
{
    fputs("}\n", answer);
    const bool failed = ferror(answer);
    if (fclose(answer) || failed)
        fail_out_of_memory();
    if (text_size > MAX_ANSWER)
        send_too_long();
    else
        send_line(text);
    free(text);
    text = NULL;
}

void exit_unusable(void)
{
    char line[64];
    snprintf(line, sizeof line, "{\"id\":%d,\"unusable\":true}\n", id);
    send_line(line);
    _exit(1);
}

const char *text_member(yyjson_val *object, const char *name)
{
    return yyjson_get_str(yyjson_obj_get(object, name));
}

double number_member(yyjson_val *object, const char *name, double absent)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    return yyjson_is_num(value) ? yyjson_get_num(value) : absent;
}

int integer_member(yyjson_val *object, const char *name, int absent)
{
    const double number = number_member(object, name, absent);
    return number >= INT_MIN && number <= INT_MAX ? (int)number : absent;
}

bool flag_member(yyjson_val *object, const char *name)
{
    return yyjson_get_bool(yyjson_obj_get(object, name));
}

int index_of(const char *wanted, const char *const *list)
{
    for (int index = 0; wanted && list[index]; index++)
        if (!strcmp(wanted, list[index]))
            return index;
    return -1;
}

// Reads one line and handles it. Returns false if it is not a request, or if its directory no longer exists.
static bool serve(const char *line, size_t length, void (*handle)(const struct request *))
{
    yyjson_doc *document = yyjson_read(line, length, 0);
    yyjson_val *root = yyjson_doc_get_root(document);
    const struct request request = { text_member(root, "operation"), yyjson_obj_get(root, "arguments") };
    const char *directory = text_member(root, "directory");
    id = integer_member(root, "id", 0);
    format_error(memory_error, sizeof memory_error, "SOURCE_TOO_LARGE", "%s", "");
    const bool valid = id > 0 && request.operation && yyjson_is_obj(request.arguments) && directory && !chdir(directory);
    if (valid)
        handle(&request);
    yyjson_doc_free(document);
    return valid;
}

void serve_requests(void (*handle)(const struct request *))
{
    send_line("{\"ready\":true}\n");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        const bool valid = serve(line, (size_t)length, handle);
        // The line may contain a password.
        explicit_bzero(line, (size_t)length);
        if (!valid)
            _exit(1);
    }
    free(line);
}
