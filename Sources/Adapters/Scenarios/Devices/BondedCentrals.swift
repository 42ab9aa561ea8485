import Bluetooth
import GATT

/// The centrals bonded with a simulated device. A central's subscription to Service Changed outlasts its links, so it
/// learns of a change that it missed when it next encrypts a link (Core 5.4, Vol 3, Part G, 2.5.2 and 7.1). Its other
/// subscriptions end with the link.
final class BondedCentrals {
  private static let serviceChanged: BluetoothUUID = 0x2A05

  private let host: GATTHost
  /// By identity: a central may show another address on each link.
  private var states: [DeviceAddress: GATTClientState] = [:]
  /// Returns the identity of the central on the link; nil without a key for it.
  private var identity: () -> DeviceAddress? = { nil }
  private var isRestored = false

  init(_ host: GATTHost) {
    self.host = host
    host.onSecurity = { [weak self] in self?.secured() }
  }

  /// There is a link with this central.
  /// - Parameters:
  ///   - peer: its address on the link.
  ///   - identity: returns its identity; nil without a key for it.
  func attach(_ peer: DeviceAddress, _ identity: @escaping () -> DeviceAddress?) {
    self.identity = identity
    isRestored = false
    // A central without keys pairs anew.
    if identity() == nil { states[peer] = nil }
  }

  /// The central has changed its settings, or was bonded.
  func keep() {
    guard let peer, var state = host.clientState else { return }
    state.subscriptions = state.subscriptions.filter {
      host.database.attribute($0.key)?.type == Self.serviceChanged
    }
    states[peer] = state
  }

  private func secured() {
    guard !isRestored, let peer else { return }
    isRestored = true
    if let state = states[peer] { host.restore(state) }
  }

  /// The central on the link, if that is encrypted with the keys of a bond.
  private var peer: DeviceAddress? {
    guard let link = host.link, link.security.level > 1 else { return nil }
    return identity()
  }
}
