#ifndef CLIBFUZZER_H
#define CLIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

// libFuzzer as a library: the toolchain has the code, but no header for Swift.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*target)(const uint8_t *octets, size_t count));

#endif
