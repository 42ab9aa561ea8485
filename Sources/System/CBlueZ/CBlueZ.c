#define _GNU_SOURCE
#include "CBlueZ.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum { att_cid = 4 };

static int result(int value) { return value < 0 ? -errno : value; }

// Closes the descriptor and gives the error that made it useless.
static int give_up(int descriptor) {
  int error = -errno;
  close(descriptor);
  return error;
}

static int hci_socket(uint16_t index, uint16_t channel) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
  if (descriptor < 0) return -errno;
  struct sockaddr_hci address = {.hci_family = AF_BLUETOOTH, .hci_dev = index, .hci_channel = channel};
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) return give_up(descriptor);
  return descriptor;
}

int cbz_hci_raw(uint16_t index) { return hci_socket(index, HCI_CHANNEL_RAW); }
int cbz_hci_user(uint16_t index) { return hci_socket(index, HCI_CHANNEL_USER); }
int cbz_hci_monitor(void) {
  int descriptor = hci_socket(HCI_DEV_NONE, HCI_CHANNEL_MONITOR);
  if (descriptor < 0) return descriptor;
  if (cbz_stamp_packets(descriptor) < 0) return give_up(descriptor);
  return descriptor;
}

int cbz_hci_address(uint16_t index, uint8_t address[6]) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
  if (descriptor < 0) return -errno;
  struct hci_dev_info info = {.dev_id = index};
  if (ioctl(descriptor, HCIGETDEVINFO, &info) < 0) return give_up(descriptor);
  memcpy(address, info.bdaddr.b, sizeof info.bdaddr.b);
  return result(close(descriptor));
}

int cbz_hci_control(void) { return hci_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL); }

int cbz_hci_set_filter(int descriptor, uint32_t types, uint64_t events) {
  struct hci_filter filter = {.type_mask = types, .event_mask = {(uint32_t)events, (uint32_t)(events >> 32)}};
  return result(setsockopt(descriptor, SOL_HCI, HCI_FILTER, &filter, sizeof filter));
}

static int attach_filter(int descriptor, struct sock_filter *program, unsigned short length) {
  struct sock_fprog filter = {.len = length, .filter = program};
  return result(setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter));
}

int cbz_hci_divide_reports(int descriptor, int reports) {
  const uint32_t all = UINT32_MAX;
  // The packet is its type, the event code, the length, and for LE Meta the subevent code.
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 1),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_LE_META_EVENT, 0, 4),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 3),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 3, 0),  // LE Advertising Report
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0B, 2, 0),  // LE Directed Advertising Report
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0D, 1, 0),  // LE Extended Advertising Report
      BPF_STMT(BPF_RET | BPF_K, reports ? 0 : all),
      BPF_STMT(BPF_RET | BPF_K, reports ? all : 0),
  };
  return attach_filter(descriptor, program, sizeof program / sizeof program[0]);
}

int cbz_hci_withhold_completions(int descriptor) {
  // The type of the packet and the event code, high octet first.
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HCI_EVENT_PKT << 8 | EVT_NUM_COMP_PKTS, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
  };
  return attach_filter(descriptor, program, sizeof program / sizeof program[0]);
}

int cbz_hci_completions(uint16_t index) {
  const uint32_t types = 1 << HCI_EVENT_PKT, event = 1 << EVT_NUM_COMP_PKTS;
  int descriptor = cbz_hci_raw(index);
  if (descriptor < 0) return descriptor;
  struct hci_filter filter;
  socklen_t length = sizeof filter;
  if (cbz_hci_set_filter(descriptor, types, event) < 0 ||
      getsockopt(descriptor, SOL_HCI, HCI_FILTER, &filter, &length) < 0)
    return give_up(descriptor);
  if (filter.event_mask[0] == event && filter.type_mask == types) return descriptor;
  // The kernel took out what others may not hear.
  close(descriptor);
  return -EPERM;
}

int cbz_hci_ignore_device_found(int descriptor, int ignore) {
  if (!ignore) return result(setsockopt(descriptor, SOL_SOCKET, SO_DETACH_FILTER, &(int){0}, sizeof(int)));
  // A packet begins with the event code, low octet first, which the filter reads as high octet first.
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1200, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
  };
  return attach_filter(descriptor, program, sizeof program / sizeof program[0]);
}

int cbz_hci_signalling(uint16_t index) {
  const uint32_t all = UINT32_MAX;
  // The packet is its type, the handle with flags, two lengths, the channel's number, low octet first, and the code.
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 7),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0500, 0, 3),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x16, 1, 0),  // L2CAP_FLOW_CONTROL_CREDIT_IND
      BPF_STMT(BPF_RET | BPF_K, all),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  int descriptor = hci_socket(index, HCI_CHANNEL_RAW);
  if (descriptor < 0) return descriptor;
  int error = cbz_hci_set_filter(descriptor, 1 << HCI_ACLDATA_PKT, 0);
  if (error == 0) error = attach_filter(descriptor, program, sizeof program / sizeof program[0]);
  if (error == 0) return descriptor;
  close(descriptor);
  return error;
}

int cbz_hci_links(int descriptor, uint16_t index, struct cbz_link *links, int count) {
  enum { le_link = 0x80, most = 64 };
  union {
    struct hci_conn_list_req request;
    uint8_t octets[sizeof(struct hci_conn_list_req) + most * sizeof(struct hci_conn_info)];
  } list = {.request = {.dev_id = index, .conn_num = most}};
  if (ioctl(descriptor, HCIGETCONNLIST, &list) < 0) return -errno;
  int found = 0;
  for (int number = 0; number < list.request.conn_num && number < most && found < count; number++) {
    struct hci_conn_info info;
    memcpy(&info, list.octets + sizeof list.request + number * sizeof info, sizeof info);
    // A link that the kernel still asks what it can is there, too.
    if (info.type != le_link || (info.state != BT_CONNECTED && info.state != BT_CONFIG)) continue;
    links[found].handle = info.handle;
    links[found].is_central = (info.link_mode & HCI_LM_MASTER) != 0;
    memcpy(links[found].address, &info.bdaddr, sizeof links[found].address);
    found++;
  }
  return found;
}

static struct sockaddr_l2 att_address(const uint8_t address[6], uint8_t type) {
  struct sockaddr_l2 to = {.l2_family = AF_BLUETOOTH, .l2_cid = htobs(att_cid)};
  to.l2_bdaddr_type = type == 0 ? BDADDR_LE_PUBLIC : BDADDR_LE_RANDOM;
  memcpy(&to.l2_bdaddr, address, sizeof to.l2_bdaddr);
  return to;
}

int cbz_att_socket(const uint8_t address[6], uint8_t type) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
  if (descriptor < 0) return -errno;
  struct sockaddr_l2 from = att_address(address, type);
  if (bind(descriptor, (struct sockaddr *)&from, sizeof from) < 0) return give_up(descriptor);
  return descriptor;
}

int cbz_att_listen(int descriptor, int backlog) { return result(listen(descriptor, backlog)); }

int cbz_att_accept(int descriptor, uint8_t peer[6], uint8_t *peer_type) {
  struct sockaddr_l2 from = {0};
  socklen_t length = sizeof from;
  int accepted = accept4(descriptor, (struct sockaddr *)&from, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (accepted < 0) return -errno;
  memcpy(peer, &from.l2_bdaddr, 6);
  *peer_type = from.l2_bdaddr_type == BDADDR_LE_RANDOM ? 1 : 0;
  return accepted;
}

int cbz_att_get_mtu(int descriptor, uint16_t *in, uint16_t *out) {
  struct l2cap_options options = {0};
  socklen_t length = sizeof options;
  if (getsockopt(descriptor, SOL_L2CAP, L2CAP_OPTIONS, &options, &length) < 0) return -errno;
  *in = options.imtu;
  *out = options.omtu;
  return 0;
}

int cbz_att_set_mtu(int descriptor, uint16_t in, uint16_t out) {
  struct l2cap_options options = {0};
  socklen_t length = sizeof options;
  if (getsockopt(descriptor, SOL_L2CAP, L2CAP_OPTIONS, &options, &length) < 0) return -errno;
  options.imtu = in;
  options.omtu = out;
  return result(setsockopt(descriptor, SOL_L2CAP, L2CAP_OPTIONS, &options, sizeof options));
}

int cbz_att_get_security(int descriptor, uint8_t *level, uint8_t *key_size) {
  struct bt_security security = {0};
  socklen_t length = sizeof security;
  if (getsockopt(descriptor, SOL_BLUETOOTH, BT_SECURITY, &security, &length) < 0) return -errno;
  *level = security.level;
  *key_size = security.key_size;
  return 0;
}

int cbz_att_set_security(int descriptor, uint8_t level) {
  struct bt_security security = {.level = level};
  return result(setsockopt(descriptor, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security));
}

int cbz_att_connection_handle(int descriptor) {
  struct l2cap_conninfo info = {0};
  socklen_t length = sizeof info;
  if (getsockopt(descriptor, SOL_L2CAP, L2CAP_CONNINFO, &info, &length) < 0) return -errno;
  return info.hci_handle;
}

static struct sockaddr_l2 channel_address(const uint8_t address[6], uint8_t type, uint16_t psm) {
  struct sockaddr_l2 to = att_address(address, type);
  to.l2_cid = 0;
  to.l2_psm = htobs(psm);
  return to;
}

int cbz_channel_socket(const uint8_t address[6], uint8_t type, uint16_t psm, uint16_t mtu) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
  if (descriptor < 0) return -errno;
  struct sockaddr_l2 from = channel_address(address, type, psm);
  if (bind(descriptor, (struct sockaddr *)&from, sizeof from) < 0) return give_up(descriptor);
  if (setsockopt(descriptor, SOL_BLUETOOTH, BT_RCVMTU, &mtu, sizeof mtu) < 0) return give_up(descriptor);
  return descriptor;
}

int cbz_channel_is_enhanced(int descriptor) {
  uint8_t mode = 0;
  socklen_t length = sizeof mode;
  if (getsockopt(descriptor, SOL_BLUETOOTH, BT_MODE, &mode, &length) < 0) return -errno;
  return mode == BT_MODE_EXT_FLOWCTL;
}

int cbz_channel_set_enhanced(int descriptor) {
  uint8_t mode = BT_MODE_EXT_FLOWCTL;
  return result(setsockopt(descriptor, SOL_BLUETOOTH, BT_MODE, &mode, sizeof mode));
}

int cbz_channel_connect(int descriptor, const uint8_t peer[6], uint8_t peer_type, uint16_t psm) {
  struct sockaddr_l2 to = channel_address(peer, peer_type, psm);
  return result(connect(descriptor, (struct sockaddr *)&to, sizeof to));
}

int cbz_channel_get_mtu(int descriptor, uint16_t *in, uint16_t *out) {
  socklen_t length = sizeof *in;
  if (getsockopt(descriptor, SOL_BLUETOOTH, BT_RCVMTU, in, &length) < 0) return -errno;
  length = sizeof *out;
  return result(getsockopt(descriptor, SOL_BLUETOOTH, BT_SNDMTU, out, &length));
}

int cbz_channel_number(int descriptor) {
  struct sockaddr_l2 own = {.l2_cid = 0};
  socklen_t length = sizeof own;
  if (getsockname(descriptor, (struct sockaddr *)&own, &length) < 0) return -errno;
  return btohs(own.l2_cid);
}

int cbz_channel_error(int descriptor) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
  return -error;
}

int cbz_send_load(int descriptor) {
  uint32_t info[SK_MEMINFO_VARS] = {0};
  socklen_t length = sizeof info;
  if (getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, info, &length) < 0) return -errno;
  return (int)info[SK_MEMINFO_WMEM_ALLOC];
}

int cbz_set_send_buffer(int descriptor, int octets) {
  if (setsockopt(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, &octets, sizeof octets) == 0) return 0;
  return result(setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &octets, sizeof octets));
}

int cbz_set_receive_buffer(int descriptor, int octets) {
  if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &octets, sizeof octets) == 0) return 0;
  return result(setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &octets, sizeof octets));
}

int cbz_receive_load(int descriptor, uint32_t *percent, uint32_t *dropped) {
  uint32_t info[SK_MEMINFO_VARS] = {0};
  socklen_t length = sizeof info;
  if (getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, info, &length) < 0) return -errno;
  uint64_t room = info[SK_MEMINFO_RCVBUF] ? info[SK_MEMINFO_RCVBUF] : 1;
  *percent = (uint32_t)(info[SK_MEMINFO_RMEM_ALLOC] * 100ULL / room);
  *dropped = info[SK_MEMINFO_DROPS];
  return 0;
}

int cbz_has_ended(int descriptor) {
  struct pollfd state = {.fd = descriptor, .events = POLLRDHUP};
  if (poll(&state, 1, 0) < 0) return -errno;
  return (state.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

int cbz_peek(int descriptor) {
  uint8_t octet;
  return result((int)recv(descriptor, &octet, sizeof octet, MSG_DONTWAIT | MSG_PEEK));
}

int cbz_read(int descriptor, uint8_t *buffer, size_t length) {
  return result((int)recv(descriptor, buffer, length, MSG_DONTWAIT));
}

enum { most_packets = 64 };

int cbz_read_packets(int descriptor, uint8_t *buffer, size_t length, uint32_t *lengths, uint32_t count) {
  struct iovec parts[most_packets];
  struct mmsghdr messages[most_packets];
  if (count > most_packets) count = most_packets;
  for (uint32_t i = 0; i < count; i++) {
    parts[i] = (struct iovec){.iov_base = buffer + i * length, .iov_len = length};
    messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &parts[i], .msg_iovlen = 1}};
  }
  int received = recvmmsg(descriptor, messages, count, MSG_DONTWAIT, NULL);
  for (int i = 0; i < received; i++) lengths[i] = messages[i].msg_len;
  return result(received);
}

int cbz_stamp_packets(int descriptor) {
  return result(setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMP, &(int){1}, sizeof(int)));
}

// The room for a packet's stamp.
union stamp {
  struct cmsghdr header;
  char octets[CMSG_SPACE(sizeof(struct timeval))];
};

static int64_t stamp(struct msghdr *message) {
  for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMP) continue;
    struct timeval time;
    memcpy(&time, CMSG_DATA(part), sizeof time);
    return time.tv_sec * INT64_C(1000000) + time.tv_usec;
  }
  return 0;
}

int cbz_read_packets_stamped(
    int descriptor, uint8_t *buffer, size_t length, uint32_t *lengths, int64_t *microseconds, uint32_t count) {
  struct iovec parts[most_packets];
  struct mmsghdr messages[most_packets];
  union stamp stamps[most_packets];
  if (count > most_packets) count = most_packets;
  for (uint32_t i = 0; i < count; i++) {
    parts[i] = (struct iovec){.iov_base = buffer + i * length, .iov_len = length};
    messages[i] = (struct mmsghdr){
        .msg_hdr = {
            .msg_iov = &parts[i], .msg_iovlen = 1, .msg_control = &stamps[i], .msg_controllen = sizeof stamps[i]}};
  }
  int received = recvmmsg(descriptor, messages, count, MSG_DONTWAIT, NULL);
  for (int i = 0; i < received; i++) {
    lengths[i] = messages[i].msg_len;
    microseconds[i] = stamp(&messages[i].msg_hdr);
  }
  return result(received);
}

int cbz_read_stamped(int descriptor, uint8_t *buffer, size_t length, int64_t *microseconds) {
  struct iovec part = {.iov_base = buffer, .iov_len = length};
  union stamp room;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
  ssize_t count = recvmsg(descriptor, &message, MSG_DONTWAIT);
  if (count < 0) return -errno;
  *microseconds = stamp(&message);
  return (int)count;
}

int cbz_write(int descriptor, const uint8_t *buffer, size_t length) {
  return result((int)send(descriptor, buffer, length, MSG_DONTWAIT | MSG_NOSIGNAL));
}

int cbz_close(int descriptor) { return result(close(descriptor)); }
