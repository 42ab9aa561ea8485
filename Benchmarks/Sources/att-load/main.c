// att-load SOCKET|echo [SECONDS]: how fast the ATT server behind a Unix SOCK_SEQPACKET socket answers one client that
// waits for each answer. SECONDS is the time for each figure, 2 if not given. The database is in
// Sources/att-server/GATTPeer.swift. With "echo" in place of the socket it measures a process that only sends 21 octets
// back: what this machine's sockets and scheduler allow at all.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SLOT = 100, SLOTS = 20000, WARM_UP = 2000, BATCH = 64, LARGEST = 517 };

struct operation {
  const char *name;
  const char *hex;   // the beginning of the request; zeros follow
  int length;        // of the request
  uint8_t opcode;    // of the answer
  int answer_length;
};

static double seconds = 2;
static int server;
static uint8_t packet[LARGEST + 1];
static long slots[SLOTS];  // how many answers took so many times SLOT nanoseconds

static int64_t nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "att-load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void transmit(const uint8_t *octets, int length) {
  if (send(server, octets, length, 0) != length) fail("send");
}

static int receive(void) {
  int length = recv(server, packet, sizeof packet, 0);
  if (length <= 0) fail("the server went away");
  return length;
}

static int request_of(const struct operation *operation, uint8_t *octets) {
  memset(octets, 0, operation->length);
  for (int i = 0; operation->hex[2 * i]; i++) {
    char digits[3] = {operation->hex[2 * i], operation->hex[2 * i + 1], 0};
    octets[i] = strtoul(digits, NULL, 16);
  }
  return operation->length;
}

static void expect(const struct operation *operation, int length) {
  if (packet[0] == operation->opcode && length == operation->answer_length) return;
  fprintf(stderr, "att-load: %s: the answer is opcode %02x with %d octets, not %02x with %d\n", operation->name,
      packet[0],
          length, operation->opcode, operation->answer_length);
  exit(1);
}

// The time in microseconds within which this share of the answers came.
static double percentile(long total, double share) {
  long seen = 0;
  for (int i = 0; i < SLOTS; i++)
    if ((seen += slots[i]) >= total * share) return (i + 1) * SLOT / 1000.0;
  return SLOTS * SLOT / 1000.0;
}

static void measure_answers(const struct operation *operation) {
  uint8_t octets[LARGEST];
  int length = request_of(operation, octets);
  for (int i = 0; i < WARM_UP; i++) {
    transmit(octets, length);
    expect(operation, receive());
  }
  memset(slots, 0, sizeof slots);
  long count = 0;
  int64_t start = nanoseconds(), last = start, end = start + (int64_t)(seconds * 1e9);
  while (last < end) {
    transmit(octets, length);
    receive();
    int64_t now = nanoseconds(), slot = (now - last) / SLOT;
    slots[slot < SLOTS ? slot : SLOTS - 1]++;
    last = now;
    count++;
  }
  printf("%-22s %9.0f /s   p50 %6.1f us   p99 %6.1f us\n", operation->name, count * 1e9 / (last - start),
         percentile(count, 0.5), percentile(count, 0.99));
}

// Commands have no answer; a read behind every BATCH of them tells that they were taken.
static void measure_commands(void) {
  const struct operation command = {"write command, 20", "520300", 23, 0, 0};
  const struct operation read = {"read", "0a0300", 3, 0x0b, 21};
  uint8_t octets[LARGEST], request[LARGEST];
  request_of(&command, octets);
  request_of(&read, request);
  long count = 0;
  int64_t start = nanoseconds(), now = start;
  while (now < start + seconds * 1e9) {
    for (int i = 0; i < BATCH; i++) transmit(octets, command.length);
    transmit(request, read.length);
    expect(&read, receive());
    count += BATCH;
    now = nanoseconds();
  }
  printf("%-22s %9.0f /s\n", command.name, count * 1e9 / (now - start));
}

static void measure_notifications(void) {
  const uint8_t on[] = {0x12, 8, 0, 1, 0}, off[] = {0x12, 8, 0, 0, 0};
  transmit(on, sizeof on);
  long count = -WARM_UP;
  int64_t start = 0, now = 0;
  while (count < 0 || now < start + seconds * 1e9) {
    if (receive() != 23 || packet[0] != 0x1b) continue;
    if (++count == 0) start = nanoseconds();
    if (count > 0 && count % BATCH == 0) now = nanoseconds();
  }
  printf("%-22s %9.0f /s\n", "notification, 20", count * 1e9 / (now - start));
  transmit(off, sizeof off);
  while (receive() != 1 || packet[0] != 0x13) {}
  // Notifications on their way when the server was told to stop.
  const struct operation read = {"read", "0a0300", 3, 0x0b, 21};
  uint8_t request[3];
  transmit(request, request_of(&read, request));
  while (receive() != 21 || packet[0] != 0x0b) {}
}

static void connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  server = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  for (int attempt = 0; connect(server, (struct sockaddr *)&address, sizeof address); attempt++) {
    if (attempt == 100) fail(path);
    usleep(50000);
  }
}

static void measure_echo(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair)) fail("socketpair");
  pid_t child = fork();
  if (child < 0) fail("fork");
  server = pair[child ? 0 : 1];
  if (child == 0) {
    close(pair[0]);
    const uint8_t answer[21] = {0x0b};
    while (recv(server, packet, sizeof packet, 0) > 0) transmit(answer, sizeof answer);
    exit(0);
  }
  const struct operation read = {"echo, no ATT", "0a0300", 3, 0x0b, 21};
  measure_answers(&read);
  kill(child, SIGTERM);
}

int main(int count, char **arguments) {
  static const struct operation small[] = {
      {"read, 20", "0a0300", 3, 0x0b, 21},
      {"write, 20", "120300", 23, 0x13, 1},
      {"read by group type", "100100ffff0028", 7, 0x11, 8},
      {"read by type", "080100ffff0328", 7, 0x09, 23},
  };
  static const struct operation large[] = {
      {"exchange MTU", "020502", 3, 0x03, 3},
      {"read, 512, MTU 517", "0a0500", 3, 0x0b, 513},
      {"write, 512, MTU 517", "120500", 515, 0x13, 1},
  };
  if (count < 2) {
    fprintf(stderr, "usage: att-load SOCKET|echo [SECONDS]\n");
    return 2;
  }
  if (count > 2) seconds = atof(arguments[2]);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (strcmp(arguments[1], "echo") == 0) {
    measure_echo();
    return 0;
  }
  connect_to(arguments[1]);
  for (size_t i = 0; i < sizeof small / sizeof *small; i++) measure_answers(&small[i]);
  measure_commands();
  measure_notifications();
  uint8_t request[3];
  transmit(request, request_of(&large[0], request));
  expect(&large[0], receive());
  for (size_t i = 1; i < sizeof large / sizeof *large; i++) measure_answers(&large[i]);
  return 0;
}
