/// The files of the page, which `bleshell web` serves.
#pragma once

#include <stddef.h>

/// A file; no zero follows its last octet.
struct bled_page_file {
  const char *name;
  const char *start;
  const char *end;
};

/// The number of files.
size_t bled_page_file_count(void);

/// A file, from 0 on.
const struct bled_page_file *bled_page_file(size_t number);
