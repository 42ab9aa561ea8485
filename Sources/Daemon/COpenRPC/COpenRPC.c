#include "COpenRPC.h"

// The question makes the document a dependency of this file, as .incbin alone does not: a change compiles it again.
#if !__has_include("openrpc.json")
#error "docs/openrpc.json is missing: run make reference"
#endif

__asm__(".pushsection .rodata\n"
        ".global bled_openrpc_start\n"
        ".hidden bled_openrpc_start\n"
        "bled_openrpc_start:\n"
        ".incbin \"openrpc.json\"\n"
        ".global bled_openrpc_end\n"
        ".hidden bled_openrpc_end\n"
        "bled_openrpc_end:\n"
        ".popsection\n");
