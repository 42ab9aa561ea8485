/// The commit that a program was built from, which `scripts/dist` writes into the finished program.
#pragma once

#include <stddef.h>

/// Copies the commit into a buffer: text that ends with a zero, empty in a program that nobody wrote it into.
/// - Parameter length: the size of the buffer; 64 octets are enough.
void bled_build_commit(char *buffer, size_t length);
