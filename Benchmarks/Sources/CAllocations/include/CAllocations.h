#pragma once
#include <stdint.h>

// How many times this process has asked for memory. Linking this library puts a counter before glibc's allocator.
uint64_t allocations(void);
