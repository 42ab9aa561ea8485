import GATT

/// What our client tells a device of itself with Client Supported Features (Core 5.4, Vol 3, Part G, 7.2): that it
/// understands Multiple Handle Value Notifications (bit 2), and Database Out Of Sync (bit 0, Robust Caching, 2.5.2.1).
/// Enhanced bearers (bit 1) are not used.
///
/// A device is told once on a link, after the first discovery on it, in turns with what programs ask for. A bonded one
/// keeps it with the bond. One without the characteristic is told nothing.
extension CentralLink {
  /// The value of the characteristic.
  static let features: [UInt8] = [0b101]

  /// The device's Generic Attribute service is known, if it has one.
  func tellFeatures() {
    guard let handle = discovery.known.clientFeatures, !hub.hasTold(Self.features) else { return }
    enqueue(LinkOperation(nil, .clientFeatures, .write(handle, Self.features)))
  }
}

extension KnownAttributes {
  /// The value of the Client Supported Features characteristic, where it can be written.
  fileprivate var clientFeatures: UInt16? {
    services.first { $0.uuid == 0x1801 }?.characteristics?
      .first { $0.uuid == 0x2B29 && $0.properties.contains(.write) }?.valueHandle
  }
}
