// daemon-load SOCKET call SECONDS: how fast one client's reads are answered, each after the other.
// daemon-load SOCKET calls CLIENTS SECONDS: how many reads of so many processes are answered, each with WINDOW of them
// on the way.
// daemon-load SOCKET values CLIENTS COUNT [MICROSECONDS]: how fast COUNT values of one link reach each of so many
// processes; with a pause between two values, how long one takes.
// daemon-load SOCKET reports CLIENTS COUNT DEVICES: the same for advertisements; each client's filter lets every second
// one through.
// The daemon is bench-daemon, whose device is described in Sources/bench-daemon/AirlessLink.swift.
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 17, SLOT = 250, SLOTS = 400000, QUIET = 500, WINDOW = 16 };

struct outcome {
  long count;           // how many came
  int64_t last;         // when the last one came
  int64_t p50, p99;     // how long they took, in nanoseconds
  int lost;             // whether the subscription was lost
};

static const char *path;
static int daemon_socket;
static char buffer[BUFFER + 1], peripheral[64];
static size_t start, filled;
static int last_id;
static unsigned slots[SLOTS];  // how many values took so many times SLOT nanoseconds

static int64_t nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "daemon-load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void connect_daemon(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  start = filled = 0;
  daemon_socket = socket(AF_UNIX, SOCK_STREAM, 0);
  for (int attempt = 0; connect(daemon_socket, (struct sockaddr *)&address, sizeof address); attempt++) {
    if (attempt == 100) fail(path);
    usleep(50000);
  }
}

// The next line without its line feed; NULL if none comes for so many milliseconds (-1: for ever).
static char *line_within(int patience) {
  for (;;) {
    char *end = memchr(buffer + start, '\n', filled - start);
    if (end) {
      char *line = buffer + start;
      *end = 0;
      start = end + 1 - buffer;
      return line;
    }
    memmove(buffer, buffer + start, filled - start);
    filled -= start;
    start = 0;
    if (filled == BUFFER) fail("a line is too long");
    if (patience >= 0) {
      struct pollfd ready = {.fd = daemon_socket, .events = POLLIN};
      if (poll(&ready, 1, patience) == 0) return NULL;
    }
    ssize_t count = read(daemon_socket, buffer + filled, BUFFER - filled);
    if (count <= 0) fail("the daemon went away");
    filled += count;
  }
}

static int append_call(char *text, size_t room, const char *method, const char *params) {
  return snprintf(text, room, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}\n", ++last_id, method,
      params);
}

// Calls and waits for the answer; what else comes meanwhile is left out.
static char *call(const char *method, const char *params) {
  char text[1024], id[32];
  int length = append_call(text, sizeof text, method, params);
  if (write(daemon_socket, text, length) != length) fail("write");
  snprintf(id, sizeof id, "\"id\":%d,", last_id);
  for (;;) {
    char *line = line_within(-1);
    if (!strstr(line, id)) continue;
    if (!strstr(line, "\"result\"")) {
      fprintf(stderr, "daemon-load: %s: %s\n", method, line);
      exit(1);
    }
    return line;
  }
}

static void connect_device(void) {
  char *found = strstr(call("peripheral.connect", "{\"address\":\"C0:00:00:00:00:01\"}"), "\"peripheral\":\"");
  if (!found) fail("no peripheral");
  snprintf(peripheral, sizeof peripheral, "%.36s", found + strlen("\"peripheral\":\""));
}

static char *call_device(const char *method, const char *rest) {
  char params[256];
  snprintf(params, sizeof params, "{\"peripheral\":\"%s\"%s}", peripheral, rest);
  return call(method, params);
}

static void command(uint32_t count, uint32_t other, int is_scan) {
  uint8_t octets[9];
  for (int i = 0; i < 4; i++) octets[i] = count >> 8 * i, octets[4 + i] = other >> 8 * i;
  octets[8] = is_scan;
  char rest[64] = ",\"handle\":5,\"value\":\"";
  for (int i = 0; i < 9; i++) sprintf(rest + strlen(rest), "%02x", octets[i]);
  strcat(rest, "\"");
  call_device("gatt.write", rest);
}

static void took(int64_t time) {
  int64_t slot = time / SLOT;
  slots[slot < 0 ? 0 : slot < SLOTS ? slot : SLOTS - 1]++;
}

static int64_t percentile(long total, double share) {
  long seen = 0;
  for (int i = 0; i < SLOTS; i++)
    if ((seen += slots[i]) >= total * share) return (int64_t)(i + 1) * SLOT;
  return (int64_t)SLOTS * SLOT;
}

static void measure_calls(double seconds) {
  connect_daemon();
  connect_device();
  for (int i = 0; i < 2000; i++) call_device("gatt.read", ",\"handle\":3");
  memset(slots, 0, sizeof slots);
  long count = 0;
  int64_t begun = nanoseconds(), last = begun;
  while (last < begun + seconds * 1e9) {
    call_device("gatt.read", ",\"handle\":3");
    int64_t now = nanoseconds();
    took(now - last);
    last = now;
    count++;
  }
  printf("call and answer               %7.1f us   p50 %6.1f us   p99 %6.1f us   %8.0f /s\n",
      (last - begun) / 1e3 / count,
         percentile(count, 0.5) / 1e3, percentile(count, 0.99) / 1e3, count * 1e9 / (last - begun));
}

// Answered reads of one client.
static long keep_calling(int64_t end) {
  char params[128], text[WINDOW * 256];
  snprintf(params, sizeof params, "{\"peripheral\":\"%s\",\"handle\":3}", peripheral);
  long count = 0;
  while (nanoseconds() < end) {
    int length = 0;
    for (int i = 0; i < WINDOW; i++) length += append_call(text + length, sizeof text - length, "gatt.read", params);
    if (write(daemon_socket, text, length) != length) fail("write");
    for (int left = WINDOW; left > 0;)
      if (strstr(line_within(-1), "\"result\"")) left--, count++;
  }
  return count;
}

static void measure_requests(int clients, double seconds) {
  int outcomes[2];
  if (pipe(outcomes)) fail("pipe");
  int64_t begun = nanoseconds() + 500000000, end = begun + seconds * 1e9;
  for (int i = 0; i < clients; i++) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child) continue;
    connect_daemon();
    connect_device();
    keep_calling(begun);
    long count = keep_calling(end);
    if (write(outcomes[1], &count, sizeof count) != sizeof count) fail("pipe");
    _exit(0);
  }
  long total = 0, count;
  for (int i = 0; i < clients; i++, total += count)
    if (read(outcomes[0], &count, sizeof count) != sizeof count) fail("a client failed");
  while (wait(NULL) > 0) {}
  printf("requests of %3d clients       %9.0f /s, %d of each on the way\n", clients, total / seconds, WINDOW);
}

static int digit(char code) { return code <= '9' ? code - '0' : code - 'a' + 10; }

static void receive_values(long wanted, struct outcome *outcome) {
  while (outcome->count < wanted) {
    char *line = line_within(-1);
    if (strstr(line, "\"gatt.subscriptionLost\"")) {
      outcome->lost = 1;
      return;
    }
    char *value = strstr(line, "\"value\":\"");
    if (!strstr(line, "\"gatt.value\"") || !value) continue;
    value += strlen("\"value\":\"");
    int64_t sent = 0;
    for (int i = 7; i >= 0; i--) sent = sent << 8 | digit(value[2 * i]) << 4 | digit(value[2 * i + 1]);
    outcome->last = nanoseconds();
    took(outcome->last - sent);
    outcome->count++;
  }
}

static void receive_reports(struct outcome *outcome) {
  int patience = -1;
  for (char *line; (line = line_within(patience)); patience = QUIET)
    if (strstr(line, "\"scan.report\"")) outcome->last = nanoseconds(), outcome->count++;
}

static void measure_fan(int is_scan, int clients, long count, uint32_t other) {
  int ready[2], outcomes[2];
  if (pipe(ready) || pipe(outcomes)) fail("pipe");
  for (int i = 0; i < clients; i++) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child) continue;
    struct outcome outcome = {0};
    connect_daemon();
    if (is_scan) {
      call("scan.start", "{\"services\":[\"180D\"],\"duplicates\":true,\"active\":false}");
    } else {
      connect_device();
      call_device("gatt.discover", "");
      call_device("gatt.subscribe", ",\"handle\":7");
    }
    if (write(ready[1], "r", 1) != 1) fail("pipe");
    if (is_scan) receive_reports(&outcome); else receive_values(count, &outcome);
    outcome.p50 = percentile(outcome.count, 0.5);
    outcome.p99 = percentile(outcome.count, 0.99);
    if (write(outcomes[1], &outcome, sizeof outcome) != sizeof outcome) fail("pipe");
    _exit(0);
  }
  char byte;
  for (int i = 0; i < clients; i++)
    if (read(ready[0], &byte, 1) != 1) fail("pipe");
  connect_daemon();
  connect_device();
  int64_t begun = nanoseconds(), last = begun, p50 = 0, p99 = 0;
  command(count, other, is_scan);
  long deliveries = 0, lost = 0;
  for (int i = 0; i < clients; i++) {
    struct outcome outcome;
    if (read(outcomes[0], &outcome, sizeof outcome) != sizeof outcome) fail("a client failed");
    deliveries += outcome.count;
    lost += outcome.lost;
    if (outcome.last > last) last = outcome.last;
    if (outcome.p50 > p50) p50 = outcome.p50;
    if (outcome.p99 > p99) p99 = outcome.p99;
  }
  while (wait(NULL) > 0) {}
  printf("%-7s to %3d clients        %9.0f /s", is_scan ? "reports" : "values", clients,
      deliveries * 1e9 / (last - begun));
  if (is_scan) printf("   %5.1f %% of those that the filter lets through", deliveries * 100.0 / clients / (count / 2));
  if (!is_scan && other) printf("   p50 %6.1f us   p99 %6.1f us, of the slowest client", p50 / 1e3, p99 / 1e3);
  printf(lost ? "   %ld lost their subscription\n" : "\n", lost);
}

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (count > 2) path = arguments[1];
  if (count == 4 && strcmp(arguments[2], "call") == 0) {
    measure_calls(atof(arguments[3]));
  } else if (count == 5 && strcmp(arguments[2], "calls") == 0) {
    measure_requests(atoi(arguments[3]), atof(arguments[4]));
  } else if ((count == 5 || count == 6) && strcmp(arguments[2], "values") == 0) {
    measure_fan(0, atoi(arguments[3]), atol(arguments[4]), count == 6 ? atoi(arguments[5]) : 0);
  } else if (count == 6 && strcmp(arguments[2], "reports") == 0) {
    measure_fan(1, atoi(arguments[3]), atol(arguments[4]), atoi(arguments[5]));
  } else {
    fprintf(stderr, "usage: daemon-load SOCKET call SECONDS | calls CLIENTS SECONDS | values CLIENTS COUNT "
        "[MICROSECONDS] | "
                    "reports CLIENTS COUNT DEVICES\n");
    return 2;
  }
  return 0;
}
