/// The octets of page.html, page.css and page.js, which `bleshell web` serves.
#pragma once

#include <stddef.h>

#define FILE_OF_PAGE(kind)                                                                     \
  extern const char bled_page_##kind##_start[] __attribute__((visibility("hidden")));          \
  extern const char bled_page_##kind##_end[] __attribute__((visibility("hidden")));            \
  /* The first octet; no zero follows the last one. */                                         \
  static inline const void *bled_page_##kind(void) { return bled_page_##kind##_start; }        \
  static inline size_t bled_page_##kind##_length(void) {                                       \
    return (size_t)(bled_page_##kind##_end - bled_page_##kind##_start);                        \
  }

FILE_OF_PAGE(html)
FILE_OF_PAGE(css)
FILE_OF_PAGE(js)

#undef FILE_OF_PAGE
