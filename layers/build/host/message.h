// The side of an engine in C of the protocol in functions/engines/protocol.ts. The engine may use standard output and standard
// error freely.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <yyjson.h>

struct request {
    const char *operation;
    // An object. Its members are valid until the request ends.
    yyjson_val *arguments;
};

// Reports that this process is ready, then calls `handle` for each request until there are no more. `handle` must send one result or
// error. The files of the request are in the working directory. A line that is not a request ends the process.
void serve_requests(void (*handle)(const struct request *));

// Members of an object: NULL, 0, false or `absent` if there is none, or if it has another type or is out of range.
const char *text_member(yyjson_val *object, const char *name);
int integer_member(yyjson_val *object, const char *name, int absent);
double number_member(yyjson_val *object, const char *name, double absent);
bool flag_member(yyjson_val *object, const char *name);

// Finds a text in a list that ends with NULL and returns its index, or -1.
int index_of(const char *text, const char *const *list);

// Reports progress: the number of parts, such as pages, that are finished.
void send_heartbeat(int done);
void repeat_heartbeat(void);

// Begins an answer of a kind such as `result`, to which the caller writes JSON, then sends it. Without memory, they end the process.
FILE *begin_answer(const char *kind);
void finish_answer(FILE *answer);

// Sends an error without values.
void send_code(const char *code);

// Sends an error. `values` is a format of the members of its values, or "". Texts in it must not need escaping.
__attribute__((format(printf, 2, 3))) void send_error(const char *code, const char *values, ...);

// Writes the same as a line, to be sent by `send_line`, which a signal handler may call.
__attribute__((format(printf, 4, 5))) void format_error(char *line, size_t size, const char *code, const char *values, ...);
void send_line(const char *line);

// Asks for the request to be sent to a fresh process, and exits.
__attribute__((noreturn)) void exit_unusable(void);

// Reports SOURCE_TOO_LARGE and exits, because the state of the process is unknown. A signal handler may call it.
__attribute__((noreturn)) void fail_without_memory(void);

#endif
