// The protocol between the service and an engine written in C: one JSON object per line, requests on standard input,
// replies on file descriptor 3. The engine may use standard output and standard error freely.
#ifndef MESSAGE_H
#define MESSAGE_H

// Sends one line, which must end with a newline.
void send_line(const char *line);

// Sends {"error":{"code":...,"message":...}}; neither text may need escaping.
void send_error(const char *code, const char *message);

// Returns the string member `name` of a flat JSON object as JSON.stringify writes it, or NULL if there is none. The caller
// frees it.
char *text_member(const char *json, const char *name);

// Returns the numeric member `name`, or `absent` if there is none.
double number_member(const char *json, const char *name, double absent);

#endif
