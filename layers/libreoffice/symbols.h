// Functions of LibreOffice that LibreOfficeKit does not offer, found by the names of their symbols. Each has no effect if
// a version of LibreOffice lacks it.
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>

// Finds the functions in LibreOffice's library. Must be called before the others.
void find_functions(void *library);

// Restarts LibreOffice's random numbers, so that formulas and IDs do not depend on earlier documents.
void restart_random(void);

// Keeps timers from changing the layout of a document between two calls. Otherwise, the layout would depend on how
// long the calls take.
void hold_timers(bool on);

// Switches LibreOffice between its behavior for LibreOfficeKit's clients and that of soffice. In kit mode, it leaves
// form controls and cell notes to its client, and lays out text slightly differently.
void use_kit_mode(bool on);

// Sets the application's language to that of the environment. LibreOfficeKit sets none at startup, so the import of
// binary Excel files would show dates and times in formats that belong to no language.
void use_system_language(void *library);

#endif
