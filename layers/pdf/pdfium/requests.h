// The operations, each of which sends exactly one result or error. The document is open.
#ifndef REQUESTS_H
#define REQUESTS_H

#include <yyjson.h>

void open_request(yyjson_val *arguments);
void draw_request(yyjson_val *arguments);
void text_request(yyjson_val *arguments);
void save_request(yyjson_val *arguments);

#endif
