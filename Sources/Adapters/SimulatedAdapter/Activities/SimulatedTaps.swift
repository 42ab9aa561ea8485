import Adapter
import Bluetooth
import HCI

/// Reports the packets that a controller in the adapter's place would exchange with its host.
final class SimulatedTap: PacketTap {
  fileprivate var onEvent: ((TapEvent) -> Void)?
  private weak var taps: SimulatedTaps?

  init(of taps: SimulatedTaps, _ onEvent: @escaping (TapEvent) -> Void) {
    self.taps = taps
    self.onEvent = onEvent
  }

  /// Packets are reported as they pass.
  func catchUp() {}

  func close() {
    onEvent = nil
    taps?.remove(self)
  }
}

/// The taps of an adapter, and the handles of its links.
final class SimulatedTaps {
  /// A tap that is closed when it is released.
  private struct WeakTap {
    weak var tap: SimulatedTap?
  }

  private struct ObservedLink {
    weak var link: SimulatedLink?
    let handle: UInt16
  }

  private var taps: [WeakTap] = []
  private var links: [LinkID: ObservedLink] = [:]
  private var lastHandle: UInt16 = 0

  /// The highest handle (Core 5.4, Vol 4, Part E, 5.4.2).
  private static let highest: UInt16 = 0x0EFF

  /// A tap begins, unless it was closed already.
  /// - Parameters:
  ///   - start: the packets that describe the state of the adapter.
  ///   - links: the adapter's links.
  func add(_ tap: SimulatedTap, _ start: [MonitorPacket], _ links: [SimulatedLink]) {
    guard let onEvent = tap.onEvent else { return }
    taps.append(WeakTap(tap: tap))
    for packet in start { onEvent(.packet(packet)) }
    for link in links {
      let handle = observe(link)
      for packet in ControllerEvents.connection(link, handle) { onEvent(.packet(packet)) }
    }
  }

  fileprivate func remove(_ tap: SimulatedTap) {
    taps.removeAll { $0.tap == nil || $0.tap === tap }
    guard taps.isEmpty else { return }
    for observed in links.values { observed.link?.onTraffic = nil }
    links = [:]
  }

  /// Reports a packet that a controller would send.
  func tell(_ packet: @autoclosure () -> MonitorPacket) {
    guard !taps.isEmpty else { return }
    let packet = packet()
    for tap in taps { tap.tap?.onEvent?(.packet(packet)) }
  }

  /// The adapter has a new link.
  func began(_ link: SimulatedLink) {
    guard !taps.isEmpty else { return }
    for packet in ControllerEvents.connection(link, observe(link)) { tell(packet) }
  }

  /// A device was received.
  func heard(_ report: AdvertisingReport) {
    guard !taps.isEmpty else { return }
    for packet in ControllerEvents.reports(report) { tell(packet) }
  }

  /// Reports the packets of a link from now on.
  /// - Returns: the link's handle.
  private func observe(_ link: SimulatedLink) -> UInt16 {
    if let known = links[link.id] { return known.handle }
    let handle = nextHandle()
    links[link.id] = ObservedLink(link: link, handle: handle)
    link.onTraffic = { [weak self, weak link] traffic in
      guard let self, let link else { return }
      switch traffic {
      case .sent(let packet): tell(ControllerEvents.attribute(packet, handle, isSent: true))
      case .received(let packet): tell(ControllerEvents.attribute(packet, handle, isSent: false))
      case .changed(.parameters): for packet in ControllerEvents.parameters(link, handle) { tell(packet) }
      case .changed(.security): tell(ControllerEvents.encryption(link, handle))
      case .ended(let error):
        tell(ControllerEvents.end(error, handle))
        links[link.id] = nil
      }
    }
    return handle
  }

  private func nextHandle() -> UInt16 {
    repeat { lastHandle = lastHandle % Self.highest + 1 } while links.values.contains { $0.handle == lastHandle }
    return lastHandle
  }
}
