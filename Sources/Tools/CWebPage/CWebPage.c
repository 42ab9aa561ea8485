#include "CWebPage.h"

// The question makes the files dependencies of this one, as .incbin alone does not: a change compiles it again.
#if !__has_include("page.html") || !__has_include("page.css") || !__has_include("page.js")
#error "a file of the page is missing"
#endif
#if !__has_include("document.js") || !__has_include("server.js") || !__has_include("devices.js")
#error "a module of the page is missing"
#endif
#if !__has_include("sensors.js") || !__has_include("device.js") || !__has_include("attributes.js")
#error "a module of the page is missing"
#endif
#if !__has_include("plot.js") || !__has_include("pairing.js") || !__has_include("machine.js")
#error "a module of the page is missing"
#endif

// clang-format off
#define FILES_OF_PAGE(FILE) \
  FILE(html, "page.html") FILE(css, "page.css") FILE(page, "page.js") FILE(document, "document.js") \
  FILE(server, "server.js") FILE(devices, "devices.js") FILE(sensors, "sensors.js") FILE(device, "device.js") \
  FILE(attributes, "attributes.js") FILE(plot, "plot.js") FILE(pairing, "pairing.js") FILE(machine, "machine.js")

#define CONTENT(symbol, file)                    \
  __asm__(".pushsection .rodata\n"               \
          ".global bled_page_" #symbol "_start\n" \
          ".hidden bled_page_" #symbol "_start\n" \
          "bled_page_" #symbol "_start:\n"        \
          ".incbin \"" file "\"\n"                \
          ".global bled_page_" #symbol "_end\n"   \
          ".hidden bled_page_" #symbol "_end\n"   \
          "bled_page_" #symbol "_end:\n"          \
          ".popsection\n");                      \
  extern const char bled_page_##symbol##_start[] __attribute__((visibility("hidden"))); \
  extern const char bled_page_##symbol##_end[] __attribute__((visibility("hidden")));

FILES_OF_PAGE(CONTENT)

#define ROW(symbol, file) { file, bled_page_##symbol##_start, bled_page_##symbol##_end },
// clang-format on

static const struct bled_page_file files[] = {FILES_OF_PAGE(ROW)};

size_t bled_page_file_count(void) { return sizeof files / sizeof files[0]; }

const struct bled_page_file *bled_page_file(size_t number) {
  return number < bled_page_file_count() ? &files[number] : NULL;
}
