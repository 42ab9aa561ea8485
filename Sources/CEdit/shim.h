#include <editline/readline.h>

// Swift may not touch C's mutable globals: these do it.

static inline void cedit_set_completion(rl_completion_func_t *function) {
  rl_attempted_completion_function = function;
}

// Without matches: do not offer the names of files.
static inline void cedit_no_file_names(void) { rl_attempted_completion_over = 1; }

// The line as it stands.
static inline const char *cedit_line(void) { return rl_line_buffer; }
