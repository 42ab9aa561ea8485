import Bluetooth
import GATT

/// The features of our client sent to a device in Client Supported Features (Core 5.4, Vol 3, Part G, 7.2): Multiple
/// Handle Value Notifications (bit 2), Database Out Of Sync (bit 0, Robust Caching, 2.5.2.1), and enhanced bearers (bit
/// 1), where our client is about to open them.
///
/// The features are sent once per link, after the first discovery, in turns with programs' requests. A bonded device
/// keeps them with the bond. A device without the characteristic is left out.
///
/// | State of the link                                     | Input                          | Then                         |
/// |-------------------------------------------------------|--------------------------------|------------------------------|
/// | ours, encrypted; enhanced channels; the device has 2B3A | its services are known, or encrypted | its features are read        |
/// | any other                                             | the services are known         | sent, unless it knows        |
/// | features read                                         | without EATT (bit 0), refused  | the same                     |
/// | features read                                         | with EATT                      | sent with bit 1, unless it knows → bearers are opened |
final class FeatureExchange {
  /// Bits of Client Supported Features.
  private enum Feature {
    static let usual: UInt8 = 0b101
    static let enhancedBearers: UInt8 = 0b010
  }

  private unowned let link: CentralLink
  private unowned let hub: LinkHub
  /// True if enhanced bearers have to wait for encryption.
  private var awaitsEncryption = false

  init(on link: CentralLink) {
    self.link = link
    hub = link.hub
  }

  /// The device's Generic Attribute service is known, if it has one.
  func servicesAreKnown() {
    let handle = link.discovery.known.serverFeatures
    awaitsEncryption = handle != nil && !hub.mayHaveBearers
    guard let handle, hub.mayHaveBearers else { return send(Feature.usual) }
    let completion = LinkOperation.Completion { [unowned self] outcome in
      // A device that refuses to let us read them has no features we could use.
      if case .success(.value(let value)) = outcome { receive(value) } else { receive([]) }
    }
    link.enqueue(LinkOperation(nil, .procedure, completion, .read(handle)))
  }

  /// The link is encrypted now, or better: executes the operations waiting for that.
  func securityChanged() {
    if awaitsEncryption, hub.mayHaveBearers { servicesAreKnown() }
  }

  /// The device's Server Supported Features (7.4), as far as it let us read them.
  private func receive(_ value: [UInt8]) {
    let hasBearers = (value.first ?? 0) & 1 != 0
    send(hasBearers ? Feature.usual | Feature.enhancedBearers : Feature.usual)
  }

  private func send(_ wanted: UInt8) {
    // A bit is never cleared again (7.2).
    let features = hub.bearers.hasBegun ? wanted | Feature.enhancedBearers : wanted
    let told = hub.bond.toldFeatures?.first ?? 0
    guard let handle = link.discovery.known.clientFeatures, told & features != features else {
      return openBearers(features)
    }
    let all = told | features
    let completion = LinkOperation.Completion { [unowned self] outcome in
      _ = try outcome.orBluetoothError()
      hub.bond.knowsFeatures([all])
      openBearers(all)
    }
    link.enqueue(LinkOperation(nil, .procedure, completion, .write(handle, [all])))
  }

  private func openBearers(_ features: UInt8) {
    if features & Feature.enhancedBearers != 0, hub.mayHaveBearers { hub.bearers.open() }
  }
}

extension LinkHub {
  /// True if enhanced bearers may be opened: they need encryption (Part G, 5.3), and only the side that connected opens
  /// them here, so both do not at once.
  fileprivate var mayHaveBearers: Bool {
    link.role == .central && !bearers.hasBegun && link.security.level > 1 && link.hasEnhancedChannels
  }
}

extension KnownAttributes {
  /// The Client Supported Features value, if writable.
  fileprivate var clientFeatures: UInt16? { attribute(0x2B29, .write) }

  /// The Server Supported Features value, if readable.
  fileprivate var serverFeatures: UInt16? { attribute(0x2B3A, .read) }

  private func attribute(_ uuid: BluetoothUUID, _ property: CharacteristicProperties) -> UInt16? {
    services.first { $0.uuid == 0x1801 }?.characteristics?
      .first { $0.uuid == uuid && $0.properties.contains(property) }?.valueHandle
  }
}
