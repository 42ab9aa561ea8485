import Adapter
import Bluetooth
import CBlueZ
import EventLoop
import Glibc
import HCI

/// The kernel's monitor channel: every packet between it and a controller, with the time at which it passed.
final class MonitorSocket: PacketTap {
  /// So many packets are read before others have their turn.
  private static let burst = 64
  /// Of longer packets the rest is not read.
  private static let longest = 4096
  /// How many octets may wait; the kernel doubles it.
  private static let room: Int32 = 1 << 20
  /// The kind, the number of the controller and the length, two octets each, least significant first.
  private static let headerLength = 6

  private let descriptor: Descriptor
  private var buffer = [UInt8](repeating: 0, count: longest)
  private var lost = 0
  /// The number of the controller; nil while there is none.
  private let index: () -> ControllerIndex?
  private let onEvent: (TapEvent) -> Void

  /// Opens it.
  /// - Throws: `SystemError`, for instance without the capability CAP_NET_RAW.
  init(
    of index: @escaping () -> ControllerIndex?, on loop: EventLoop, _ onEvent: @escaping (TapEvent) -> Void
  ) throws(SystemError) {
    descriptor = Descriptor(try SystemError.check(cbz_hci_monitor()))
    self.index = index
    self.onEvent = onEvent
    _ = cbz_set_receive_buffer(descriptor.number, Self.room)
    // Late is early enough: the packets say when they passed.
    try descriptor.whenReady(on: loop, priority: .low) { [unowned self] _ in read() }
  }

  func close() { descriptor.close() }

  private func read() {
    for _ in 0..<Self.burst {
      var time: Int64 = 0
      let count = buffer.withUnsafeMutableBufferPointer {
        cbz_read_stamped(descriptor.number, $0.baseAddress, $0.count, &time)
      }
      // Without an end of its own, any other error would come again and again.
      guard count != -EAGAIN, count != -EINTR else { break }
      guard count > 0 else { return close() }
      if let packet = packet(Int(count), time) { onEvent(.packet(packet)) }
      guard descriptor.isOpen else { return }
    }
    let dropped = descriptor.receiveLoad.dropped
    guard dropped > lost else { return }
    onEvent(.lost(dropped - lost))
    lost = dropped
  }

  /// The packet in the buffer, if it is of our controller.
  private func packet(_ count: Int, _ time: Int64) -> MonitorPacket? {
    guard count >= Self.headerLength, let index = index(), word(at: 2) == index.rawValue else { return nil }
    let kind = MonitorPacket.Kind(rawValue: word(at: 0))
    var packet = MonitorPacket(
      kind, Array(buffer[Self.headerLength..<min(count, buffer.count)]), time: time > 0 ? time : nil)
    packet.length = max(packet.length, Int(word(at: 4)))
    return packet
  }

  private func word(at offset: Int) -> UInt16 { UInt16(buffer[offset]) | UInt16(buffer[offset + 1]) << 8 }
}

extension KernelAdapter {
  /// Tells of all packets between the kernel and the controller, whoever asked for them.
  public func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap {
    do {
      return try MonitorSocket(of: { [weak self] in self?.index }, on: loop, onEvent)
    } catch {
      let reason = String(cString: strerror(error.code))
      throw GAPError.notSupported.error(
        "the kernel's monitor channel cannot be opened (\(reason)): bled needs the capability CAP_NET_RAW")
    }
  }
}
