// LibreOfficeKit, including the functions that its headers hide by default.
#ifndef KIT_H
#define KIT_H

// The headers use bool without including this.
#include <stdbool.h>
// Declares the password callback and the functions for the parts of a document.
#define LOK_USE_UNSTABLE_API

#include <LibreOfficeKit/LibreOfficeKit.h>
#include <LibreOfficeKit/LibreOfficeKitEnums.h>

#endif
