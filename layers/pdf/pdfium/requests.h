// The kinds of requests, each of which sends exactly one result or error. The document is open.
#ifndef REQUESTS_H
#define REQUESTS_H

void open_request(const char *request);
void draw_request(const char *request);
void text_request(const char *request);

#endif
