#ifndef FONTS_H
#define FONTS_H

// Makes PDFium use the faces in `folder` for fonts that a document names but does not embed. Its built-in faces
// contain only Latin letters.
void use_fonts(const char *folder);

#endif
