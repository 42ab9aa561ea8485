import Adapter
import Bluetooth
import CBlueZ
import EventLoop
import Glibc
import HCI

/// The kernel's monitor channel: every packet between it and a controller, with its time.
final class MonitorSocket: PacketTap {
  /// Maximum packets read before other sources get their turn.
  private static let burst = 64
  /// Maximum rounds of reading when a caller wants the packets that have passed.
  private static let maximumRounds = 16
  /// The rest of longer packets is not read.
  private static let longest = 4096
  /// Octets that may be queued; the kernel doubles it.
  private static let room: Int32 = 1 << 20
  /// The kind, the number of the controller and the length, two octets each, least significant first.
  private static let headerLength = 6

  private let descriptor: Descriptor
  private var buffer = [UInt8](repeating: 0, count: longest)
  private var lost = 0
  private var controller: MonitoredController
  /// The number of the controller; nil while there is none.
  private let index: () -> ControllerIndex?
  private let onEvent: (TapEvent) -> Void
  /// The links of the controller when the channel was opened, which the kernel does not describe. They are reported
  /// behind the kernel's description of the present controllers, with which the channel begins.
  var links: [MonitorPacket] = []
  private static let descriptions: Set<MonitorPacket.Kind> = [.newIndex, .openIndex, .indexInformation]

  /// Opens it.
  /// - Throws: `SystemError`, for instance without the capability CAP_NET_RAW.
  convenience init(
    of index: @escaping () -> ControllerIndex?, on loop: EventLoop, _ onEvent: @escaping (TapEvent) -> Void
  ) throws(SystemError) {
    try self.init(Descriptor(try SystemError.check(cbz_hci_monitor())), of: index, on: loop, onEvent)
  }

  /// Reports all packets between the kernel and the controller, of all programs.
  /// - Throws: `GAPError.notSupported`, without the capability CAP_NET_RAW.
  static func tap(
    of index: @escaping () -> ControllerIndex?, on loop: EventLoop, _ onEvent: @escaping (TapEvent) -> Void
  ) throws(BluetoothError) -> MonitorSocket {
    do throws(SystemError) { return try MonitorSocket(of: index, on: loop, onEvent) } catch {
      let reason = String(cString: strerror(error.code))
      throw GAPError.notSupported.error(
        "the kernel's monitor channel cannot be opened (\(reason)): bled needs the capability CAP_NET_RAW")
    }
  }

  /// Reads from an open descriptor.
  init(
    _ descriptor: Descriptor, of index: @escaping () -> ControllerIndex?, on loop: EventLoop,
    _ onEvent: @escaping (TapEvent) -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.index = index
    self.onEvent = onEvent
    controller = MonitoredController(index()?.rawValue)
    _ = cbz_set_receive_buffer(descriptor.number, Self.room)
    // Delay is harmless: the packets carry their times.
    try descriptor.whenReady(on: loop, priority: .low) { [unowned self] _ in _ = read() }
  }

  func catchUp() {
    var rounds = Self.maximumRounds
    while rounds > 0, read() { rounds -= 1 }
  }

  func close() { descriptor.close() }

  /// Reads some packets.
  /// - Returns: true if more may wait.
  private func read() -> Bool {
    guard descriptor.isOpen else { return false }
    var packets: [(packet: MonitorPacket, number: UInt16)] = []
    let end = readBurst(into: &packets)
    // Reported before the packets: none of the queued packets is known to be older than the dropped ones. A packet
    // dropped before any of them is counted by now.
    reportLoss()
    for (packet, number) in packets where descriptor.isOpen {
      if !links.isEmpty, !Self.descriptions.contains(packet.kind) { reportLinks() }
      onEvent(.packet(packet, of: number))
    }
    switch end {
    case .empty:
      reportLinks()
      return false
    case .more: return descriptor.isOpen
    case .ended(let reason):
      if descriptor.isOpen { self.end(reason) }
      return false
    }
  }

  private func reportLinks() {
    guard !links.isEmpty, let number = index()?.rawValue else { return links = [] }
    let packets = links
    links = []
    for packet in packets where descriptor.isOpen { onEvent(.packet(packet, of: number)) }
  }

  private enum BurstEnd {
    case more, empty
    case ended(String)
  }

  private func readBurst(into packets: inout [(packet: MonitorPacket, number: UInt16)]) -> BurstEnd {
    for _ in 0..<Self.burst {
      var time: Int64 = 0
      let count = buffer.withUnsafeMutableBufferPointer {
        cbz_read_stamped(descriptor.number, $0.baseAddress, $0.count, &time)
      }
      guard count != -EAGAIN, count != -EINTR else { return .empty }
      // Without ending here, any other error would recur continuously.
      guard count > 0 else { return .ended(count < 0 ? String(cString: strerror(-count)) : "it was closed") }
      if let (packet, number) = packet(Int(count), time) { packets.append((packet, number)) }
    }
    return .more
  }

  private func end(_ reason: String) {
    reportLoss()
    descriptor.close()
    onEvent(
      .ended(GAPError.adapterFailed.error("the kernel's monitor channel ended (\(reason)): start another recording")))
  }

  private func reportLoss() {
    let dropped = descriptor.receiveLoad.dropped
    guard dropped > lost else { return }
    onEvent(.lost(dropped - lost))
    lost = dropped
  }

  /// The packet in the buffer, if it belongs to our controller.
  private func packet(_ count: Int, _ time: Int64) -> (MonitorPacket, of: UInt16)? {
    guard count >= Self.headerLength else { return nil }
    let (kind, number) = (MonitorPacket.Kind(rawValue: word(at: 0)), word(at: 2))
    guard controller.has(kind, of: number, present: index()?.rawValue) else { return nil }
    var packet = MonitorPacket(
      kind, Array(buffer[Self.headerLength..<min(count, buffer.count)]), time: time > 0 ? time : nil)
    packet.length = max(packet.length, Int(word(at: 4)))
    return (packet, of: number)
  }

  private func word(at offset: Int) -> UInt16 { UInt16(buffer[offset]) | UInt16(buffer[offset + 1]) << 8 }
}
