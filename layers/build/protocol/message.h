// C side of the engine protocol; see functions/engines/protocol.ts. The engine may use standard output and standard
// error freely.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <yyjson.h>

struct request {
    const char *operation;
    // An object whose members are valid until the request ends.
    yyjson_val *arguments;
};

// Reports that this process is ready, then calls `handle` for each request until there are no more. `handle` must
// send exactly one result or error. The files of the request are in the working directory. Exits at a line that is
// not a request.
void serve_requests(void (*handle)(const struct request *));

// Return a member of an object. If it is missing, has another type or is out of range, return NULL, 0, false or
// `absent`.
const char *text_member(yyjson_val *object, const char *name);
int integer_member(yyjson_val *object, const char *name, int absent);
double number_member(yyjson_val *object, const char *name, double absent);
bool flag_member(yyjson_val *object, const char *name);

// Finds a text in a NULL-terminated list. Returns its index, or -1.
int index_of(const char *text, const char *const *list);

// Reports progress: the number of finished parts, such as pages.
void send_heartbeat(int done);
void repeat_heartbeat(void);

// `begin_answer` opens a message of a kind such as `result`, the caller writes JSON to it, and `finish_answer` sends
// it, or an error if it is too long. Both exit when out of memory.
FILE *begin_answer(const char *kind);
void finish_answer(FILE *answer);

// Sends an error without values.
void send_code(const char *code);

// Whether a file could not be written because the disk is full. Appends to the file.
bool disk_is_full(const char *target);

// Sends an error. `values` is a format string for the members of its values, or "". Texts in it must not need
// escaping.
__attribute__((format(printf, 2, 3))) void send_error(const char *code, const char *values, ...);

// Formats an error as a line for `send_line`, which a signal handler may call.
__attribute__((format(printf, 4, 5))) void format_error(char *line, size_t size, const char *code, const char *values, ...);
void send_line(const char *line);

// Exits after requesting that the request be sent to a fresh process.
__attribute__((noreturn)) void exit_unusable(void);

// Reports SOURCE_TOO_LARGE and exits, because the state of the process is unknown. A signal handler may call it.
__attribute__((noreturn)) void fail_out_of_memory(void);

#endif
