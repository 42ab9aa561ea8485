/// The octets of docs/openrpc.json, the description of the protocol that `rpc.discover` returns.
#pragma once

#include <stddef.h>

extern const char bled_openrpc_start[] __attribute__((visibility("hidden")));
extern const char bled_openrpc_end[] __attribute__((visibility("hidden")));

/// The first octet; no zero follows the last one.
static inline const void *bled_openrpc(void) { return bled_openrpc_start; }

/// The number of octets.
static inline size_t bled_openrpc_length(void) { return (size_t)(bled_openrpc_end - bled_openrpc_start); }
