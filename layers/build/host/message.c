#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPLIES 3

void send_line(const char *line)
{
    for (size_t left = strlen(line); left > 0;) {
        const ssize_t sent = write(REPLIES, line, left);
        if (sent < 0)
            _exit(1);
        line += sent;
        left -= sent;
    }
}

void send_error(const char *code, const char *message)
{
    char line[512];
    snprintf(line, sizeof line, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}\n", code, message);
    send_line(line);
}

static char *put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = code;
    } else if (code < 0x800) {
        *out++ = 0xc0 | code >> 6;
        *out++ = 0x80 | (code & 0x3f);
    } else {
        *out++ = 0xe0 | code >> 12;
        *out++ = 0x80 | (code >> 6 & 0x3f);
        *out++ = 0x80 | (code & 0x3f);
    }
    return out;
}

// Returns what follows `"name":`. Quotes inside strings are escaped, so a value cannot contain that text.
static const char *find(const char *json, const char *name)
{
    char opening[64];
    snprintf(opening, sizeof opening, "\"%s\":", name);
    const char *found = strstr(json, opening);
    return found ? found + strlen(opening) : NULL;
}

char *text_member(const char *json, const char *name)
{
    const char *in = find(json, name);
    if (!in || *in++ != '"')
        return NULL;
    char *text = malloc(strlen(in) + 1);
    char *out = text;
    while (*in && *in != '"') {
        if (*in != '\\') {
            *out++ = *in++;
            continue;
        }
        const char kind = in[1];
        unsigned code = kind == 'n' ? '\n' : kind == 't' ? '\t' : kind == 'r' ? '\r' : kind == 'b' ? '\b'
                      : kind == 'f' ? '\f' : (unsigned char)kind;
        // JSON.stringify writes \u only for control characters and unpaired surrogates.
        if (kind == 'u')
            sscanf(in + 2, "%4x", &code);
        out = put_utf8(out, code);
        in += kind == 'u' ? 6 : 2;
    }
    *out = 0;
    return text;
}

double number_member(const char *json, const char *name, double absent)
{
    const char *in = find(json, name);
    return in ? strtod(in, NULL) : absent;
}
