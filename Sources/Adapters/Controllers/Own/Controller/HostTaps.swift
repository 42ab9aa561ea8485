import Adapter
import Bluetooth

/// Reports the packets between the host and its controller.
final class HostTap: PacketTap {
  fileprivate var onEvent: ((TapEvent) -> Void)?
  private weak var taps: HostTaps?

  fileprivate init(of taps: HostTaps, _ onEvent: @escaping (TapEvent) -> Void) {
    self.taps = taps
    self.onEvent = onEvent
  }

  deinit { close() }

  /// Packets are reported as they pass.
  func catchUp() {}

  func close() {
    onEvent = nil
    taps?.tidy()
  }
}

/// The taps of an adapter.
final class HostTaps {
  /// A tap that is closed when it is released.
  private struct WeakTap {
    weak var tap: HostTap?
  }

  /// Replaced, never changed in place: so each packet can read it without a check of exclusive access.
  private var taps: [WeakTap] = []

  /// True if packets of the controller may follow.
  private(set) var isOpen = false

  /// Makes a tap; packets are reported after `add`.
  func make(_ onEvent: @escaping (TapEvent) -> Void) -> HostTap { HostTap(of: self, onEvent) }

  /// A tap begins, unless it was closed already.
  /// - Parameter start: the packets that describe the state of the adapter.
  func add(_ tap: HostTap, _ start: [MonitorPacket]) {
    guard let onEvent = tap.onEvent else { return }
    taps = taps + [WeakTap(tap: tap)]
    for packet in start { onEvent(.packet(packet)) }
  }

  /// The controller has power.
  func openIndex(_ name: String, _ address: DeviceAddress) {
    isOpen = true
    for packet in MonitorPacket.presence(name, address, isOn: true).dropFirst() { tell(packet) }
  }

  /// The controller has lost power.
  func closeIndex() {
    if isOpen { tell(MonitorPacket(.closeIndex, [])) }
    isOpen = false
  }

  private func tell(_ packet: MonitorPacket) { for tap in taps { tap.tap?.onEvent?(.packet(packet)) } }

  /// A packet passed, with the octet of its type.
  func tell(_ octets: some Collection<UInt8>, isSent: Bool) {
    guard !taps.isEmpty, let type = octets.first else { return }
    let kind: MonitorPacket.Kind
    switch type {
    case 0x01: kind = .command
    case 0x02: kind = isSent ? .sentACL : .receivedACL
    case 0x04: kind = .event
    default: return
    }
    tell(MonitorPacket(kind, Array(octets.dropFirst())))
  }

  fileprivate func tidy() { taps = taps.filter { $0.tap?.onEvent != nil } }
}
