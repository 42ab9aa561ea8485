#include "CBuild.h"

// In a section of its own, which scripts/dist replaces by one of the same size: a new commit compiles nothing again.
// Volatile, so that the compiler does not take what is here for what will be there.
__attribute__((section(".bled_commit"), used)) static const volatile char commit[64] = "";

void bled_build_commit(char *buffer, size_t length) {
  size_t index = 0;
  for (; index + 1 < length && index < sizeof commit && commit[index]; index++) buffer[index] = commit[index];
  if (length) buffer[index] = 0;
}
