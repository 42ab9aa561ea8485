#ifndef CBLUEZ_H
#define CBLUEZ_H

#include <stddef.h>
#include <stdint.h>
// AF_BLUETOOTH sockets and their options, nothing else. Every function gives a value that is not negative, or -errno.
// Every socket is non-blocking and closed on exec. Addresses are six octets in wire order, least significant first;
// their types are those of HCI: 0 public, 1 random.

// A socket for the packets of one controller (HCI_CHANNEL_RAW).
int cbz_hci_raw(uint16_t index);
// A socket by which this process alone drives one controller (HCI_CHANNEL_USER); the kernel's host leaves it alone
// until the socket is closed. -EBUSY while the controller is on, is being set up, or has another such socket.
int cbz_hci_user(uint16_t index);
// The public address of a controller, its lowest octet first. Any user may ask.
int cbz_hci_address(uint16_t index, uint8_t address[6]);
// A socket for the kernel's management interface (HCI_CHANNEL_CONTROL).
int cbz_hci_control(void);
// A socket that hears all packets of all controllers (HCI_CHANNEL_MONITOR).
int cbz_hci_monitor(void);
// Which packets a raw socket hears: bit n of types for packet type n, bit n of events for event code n & 63.
int cbz_hci_set_filter(int descriptor, uint32_t types, uint64_t events);
// Has a raw socket hear advertising reports alone (reports is not 0), or everything else that its filter lets through:
// the filter knows event codes, and all LE events have the same.
int cbz_hci_divide_reports(int descriptor, int reports);
// Has a socket of one controller not hear Number Of Completed Packets.
int cbz_hci_withhold_completions(int descriptor);
// A raw socket that hears nothing but Number Of Completed Packets of a controller; -EPERM without CAP_NET_RAW.
int cbz_hci_completions(uint16_t index);

// A raw socket that hears the signalling of L2CAP on the LE links of a controller, both ways, but not credits.
int cbz_hci_signalling(uint16_t index);

// An LE link that the kernel knows.
struct cbz_link {
  uint16_t handle;
  uint8_t address[6];
  uint8_t is_central;
};
// Lists the LE links of a controller, over any raw socket; how many there are, at most count.
int cbz_hci_links(int descriptor, uint16_t index, struct cbz_link *links, int count);
// Whether a socket of the management interface is spared Device Found, which the kernel tells of every advertisement.
int cbz_hci_ignore_device_found(int descriptor, int ignore);

// A socket for ATT (L2CAP channel 4) that is bound to the controller with this address.
int cbz_att_socket(const uint8_t address[6], uint8_t type);
int cbz_att_listen(int descriptor, int backlog);
// Accepts a connection: a new socket, and who is at its other end.
int cbz_att_accept(int descriptor, uint8_t peer[6], uint8_t *peer_type);
// The largest packets that can be received and sent.
int cbz_att_get_mtu(int descriptor, uint16_t *in, uint16_t *out);
int cbz_att_set_mtu(int descriptor, uint16_t in, uint16_t out);
// The security level, 1 to 4, and the size of the key, 0 without encryption.
int cbz_att_get_security(int descriptor, uint8_t *level, uint8_t *key_size);
// Raises the security level; asking for one that is already met gives -EINVAL.
int cbz_att_set_security(int descriptor, uint8_t level);
// The handle of the link that a connected socket is on.
int cbz_att_connection_handle(int descriptor);

// A socket for channels in a credit-based flow control mode: bound to the controller with this address, and to this
// SPSM if it is to listen, else 0. It receives packets of up to so many octets. Listening and accepting are as for ATT.
int cbz_channel_socket(const uint8_t address[6], uint8_t type, uint16_t psm, uint16_t mtu);
// Whether a socket for channels is in enhanced credit-based flow control mode, 1 or 0, which an accepted one has if the
// device asked so; -ENOPROTOOPT if the kernel has no such mode, or it is switched off.
int cbz_channel_is_enhanced(int descriptor);
// Has a socket connect in that mode; before connecting. The same error.
int cbz_channel_set_enhanced(int descriptor);
// Begins to connect to a listener of a device; -EINPROGRESS is what is to be expected.
int cbz_channel_connect(int descriptor, const uint8_t peer[6], uint8_t peer_type, uint16_t psm);
// The longest packets that a connected channel receives and sends.
int cbz_channel_get_mtu(int descriptor, uint16_t *in, uint16_t *out);
// Our number (CID) of a channel that connects or is connected; 0 if it has none.
int cbz_channel_number(int descriptor);
// Why connecting failed, as -errno; 0 if it did not.
int cbz_channel_error(int descriptor);
// How many octets of what was sent wait in the kernel.
int cbz_send_load(int descriptor);

// How many octets may wait in the kernel for sending or for being read. With CAP_NET_ADMIN the latter may exceed
// net.core.rmem_max.
int cbz_set_send_buffer(int descriptor, int octets);
int cbz_set_receive_buffer(int descriptor, int octets);
// How much of the room for what waits to be read is taken, in percent, and how many packets were dropped for want of
// room.
int cbz_receive_load(int descriptor, uint32_t *percent, uint32_t *dropped);
// 1 if the other end is closed, or the socket has failed; else 0.
int cbz_has_ended(int descriptor);
// The length of the next packet, at most 1, which is left in the socket; 0 at the end too, or for an empty packet.
int cbz_peek(int descriptor);

// One packet; the length that was read or written.
int cbz_read(int descriptor, uint8_t *buffer, size_t length);
// Up to count packets, 64 at the most, each at the next multiple of length in the buffer; how many were read. Of a
// longer packet the rest is cut off.
int cbz_read_packets(int descriptor, uint8_t *buffer, size_t length, uint32_t *lengths, uint32_t count);
// The same, and when each came in microseconds since the epoch; 0 if the kernel does not say.
int cbz_read_packets_stamped(int descriptor, uint8_t *buffer, size_t length, uint32_t *lengths,
                             int64_t *microseconds, uint32_t count);
// Has the kernel say when packets come.
int cbz_stamp_packets(int descriptor);
// One packet, and when it came in microseconds since the epoch; 0 if the kernel does not say.
int cbz_read_stamped(int descriptor, uint8_t *buffer, size_t length, int64_t *microseconds);
int cbz_write(int descriptor, const uint8_t *buffer, size_t length);
int cbz_close(int descriptor);

#endif
