import Adapter
import Bluetooth
import CBlueZ
import EventLoop
import HCI

/// The raw sockets of one controller: one for advertising reports, one for what it has transmitted, one for everything
/// else. Reports come in floods, and so does what was transmitted; they have room of their own, so that they displace
/// neither the end of a link nor the answer to a command.
final class ControllerSockets {
  /// Commands, and all events but those of the others.
  let control: PacketSocket
  /// Advertising reports.
  let reports: PacketSocket
  /// Number Of Completed Packets.
  let completions: CompletionSocket

  /// How many octets may wait in each; the kernel doubles it, and counts at least 768 for a packet.
  private static let room: Int32 = 1 << 20

  /// Opens all; nothing is read before `start`.
  /// - Parameter hearsCommands: whether the commands of the kernel and of other programs are heard, too.
  /// - Throws: `SystemError`, for instance without the capability CAP_NET_RAW.
  init(_ index: ControllerIndex, on loop: EventLoop, hearsCommands: Bool) throws(SystemError) {
    // The kernel handles the data.
    let event: UInt32 = 1 << 0x04
    let types = hearsCommands ? event | 1 << 0x01 : event
    control = try Self.open(index, on: loop, priority: .highest, reports: false, types, Self.events)
    reports = try Self.open(index, on: loop, priority: .normal, reports: true, event, [LEConnectionComplete.code])
    completions = CompletionSocket(try Self.open(index, event, [NumberOfCompletedPackets.code]), on: loop)
  }

  func start() throws(SystemError) {
    try control.start()
    try reports.start()
  }

  func close() {
    control.close()
    reports.close()
    completions.close()
  }

  /// A link as the kernel knows it.
  struct KnownLink: Hashable {
    let handle: UInt16
    /// The identity address, if the kernel could resolve the one on the air.
    let address: UInt64
    let role: LinkRole
  }

  /// The LE links that the kernel knows on this controller; nil if it does not tell.
  func knownLinks(_ index: ControllerIndex) -> [KnownLink]? {
    guard control.descriptor.isOpen else { return nil }
    var links = [cbz_link](repeating: cbz_link(), count: 64)
    let count = cbz_hci_links(control.descriptor.number, index.rawValue, &links, Int32(links.count))
    guard count >= 0 else { return nil }
    return links.prefix(Int(count)).map { link in
      let (a, b, c, d, e, f) = link.address
      let address = [f, e, d, c, b, a].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return KnownLink(handle: link.handle, address: address, role: link.is_central == 0 ? .peripheral : .central)
    }
  }

  /// All LE events have the same code.
  private static let events: [UInt8] = [
    DisconnectionComplete.code, EncryptionChange.code, CommandComplete.code, CommandStatus.code,
    EncryptionKeyRefreshComplete.code, LEConnectionComplete.code,
  ]

  private static func open(
    _ index: ControllerIndex, on loop: EventLoop, priority: EventLoop.Priority, reports: Bool, _ types: UInt32,
    _ events: [UInt8]
  ) throws(SystemError) -> PacketSocket {
    let descriptor = try open(index, types, events)
    _ = try SystemError.check(cbz_hci_divide_reports(descriptor.number, reports ? 1 : 0))
    return PacketSocket(descriptor, on: loop, priority: priority)
  }

  private static func open(
    _ index: ControllerIndex, _ types: UInt32, _ events: [UInt8]
  ) throws(SystemError) -> Descriptor {
    let descriptor = Descriptor(try SystemError.check(cbz_hci_raw(index.rawValue)))
    let mask = events.reduce(UInt64(0)) { $0 | 1 << UInt64($1 & 63) }
    _ = try SystemError.check(cbz_hci_set_filter(descriptor.number, types, mask))
    _ = cbz_set_receive_buffer(descriptor.number, room)
    return descriptor
  }
}
