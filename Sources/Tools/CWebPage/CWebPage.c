#include "CWebPage.h"

// The question makes the files dependencies of this one, as .incbin alone does not: a change compiles it again.
#if !__has_include("page.html") || !__has_include("page.css") || !__has_include("page.js")
#error "a file of the page is missing"
#endif

#define FILE_OF_PAGE(kind)                   \
  __asm__(".pushsection .rodata\n"           \
          ".global bled_page_" #kind "_start\n" \
          ".hidden bled_page_" #kind "_start\n" \
          "bled_page_" #kind "_start:\n"     \
          ".incbin \"page." #kind "\"\n"     \
          ".global bled_page_" #kind "_end\n" \
          ".hidden bled_page_" #kind "_end\n" \
          "bled_page_" #kind "_end:\n"       \
          ".popsection\n")

FILE_OF_PAGE(html);
FILE_OF_PAGE(css);
FILE_OF_PAGE(js);
