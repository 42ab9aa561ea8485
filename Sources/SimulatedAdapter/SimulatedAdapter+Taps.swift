import Adapter
import Bluetooth
import HCI

/// Reports the packets that a controller in the adapter's place would exchange with its host.
final class SimulatedTap: PacketTap {
  fileprivate var onEvent: ((TapEvent) -> Void)?
  private weak var adapter: SimulatedAdapter?

  fileprivate init(_ adapter: SimulatedAdapter, _ onEvent: @escaping (TapEvent) -> Void) {
    self.adapter = adapter
    self.onEvent = onEvent
  }

  /// Everything is told when it passes.
  func catchUp() {}

  func close() {
    onEvent = nil
    adapter?.remove(self)
  }
}

/// A tap that is closed when it is released.
private struct WeakTap {
  weak var tap: SimulatedTap?
}

/// The taps of an adapter, and the numbers that its links have for them.
struct SimulatedTaps {
  fileprivate var taps: [WeakTap] = []
  fileprivate var handles: [LinkID: UInt16] = [:]
  fileprivate var lastHandle: UInt16 = 0

  /// Whether it has no listener.
  var isEmpty: Bool { taps.isEmpty }

  /// The highest handle (Core 5.4, Vol 4, Part E, 5.4.2).
  private static let highest: UInt16 = 0x0EFF

  /// The handle of a link, which is chosen when it is first asked for.
  fileprivate mutating func handle(of link: SimulatedLink) -> UInt16 {
    if let handle = handles[link.id] { return handle }
    repeat { lastHandle = lastHandle % Self.highest + 1 } while handles.values.contains(lastHandle)
    handles[link.id] = lastHandle
    return lastHandle
  }
}

extension SimulatedAdapter {
  /// Tells of the packets that a controller would exchange with its host: advertising reports, the events of links, and
  /// ATT. Commands, pairing and L2CAP channels are not among them.
  public func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap {
    let tap = SimulatedTap(self, onEvent)
    scheduler.schedule(after: .zero) { [weak self, weak tap] in
      guard let self, let tap, tap.onEvent != nil else { return }
      taps.taps.append(WeakTap(tap: tap))
      for packet in presence { tap.onEvent?(.packet(packet)) }
      for link in links { observe(link) }
    }
    return tap
  }

  fileprivate func remove(_ tap: SimulatedTap) {
    taps.taps.removeAll { $0.tap == nil || $0.tap === tap }
    guard taps.isEmpty else { return }
    taps.handles = [:]
    for link in links { link.onTraffic = nil }
  }

  /// A controller would tell this.
  func tell(_ packet: @autoclosure () -> MonitorPacket) {
    guard !taps.isEmpty else { return }
    let packet = packet()
    for tap in taps.taps { tap.tap?.onEvent?(.packet(packet)) }
  }

  /// The adapter has a new link.
  func tapped(_ link: SimulatedLink) {
    guard !taps.isEmpty else { return }
    tell(ControllerEvents.connection(link, taps.handle(of: link)))
    observe(link)
  }

  /// A device was heard.
  func tapped(_ report: AdvertisingReport) {
    guard !taps.isEmpty else { return }
    for packet in ControllerEvents.reports(report) { tell(packet) }
  }

  /// The power was switched.
  func tappedState() {
    tell(MonitorPacket(state == .on ? .openIndex : .closeIndex, []))
  }

  private func observe(_ link: SimulatedLink) {
    link.onTraffic = { [weak self, weak link] traffic in
      guard let self, let link else { return }
      let handle = taps.handle(of: link)
      switch traffic {
      case .sent(let packet): tell(ControllerEvents.attribute(packet, handle, isSent: true))
      case .received(let packet): tell(ControllerEvents.attribute(packet, handle, isSent: false))
      case .changed(.parameters): for packet in ControllerEvents.parameters(link, handle) { tell(packet) }
      case .changed(.security): tell(ControllerEvents.encryption(link, handle))
      case .ended(let error):
        tell(ControllerEvents.end(error, handle))
        taps.handles[link.id] = nil
      }
    }
  }

  /// The state of the adapter when a tap begins.
  private var presence: [MonitorPacket] {
    let address = end.address.littleEndian
    // Eight octets, of which btmon wants the last to be zero.
    let name = Array(information.id.utf8.prefix(7))
    let field = name + [UInt8](repeating: 0, count: 8 - name.count)
    var packets = [MonitorPacket(.newIndex, [0, 0] + address + field)]
    guard state == .on else { return packets }
    packets.append(MonitorPacket(.openIndex, []))
    // 0xFFFF is no company's number (Assigned Numbers, 7.1).
    packets.append(MonitorPacket(.indexInformation, address + [0xFF, 0xFF]))
    for link in links {
      let handle = taps.handle(of: link)
      packets.append(ControllerEvents.connection(link, handle))
      if link.security.level > 1 { packets.append(ControllerEvents.encryption(link, handle)) }
    }
    return packets
  }
}
