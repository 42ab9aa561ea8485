/// A characteristic of a peripheral, or one of this program (`CBMutableCharacteristic`).
open class CBCharacteristic: CBAttribute {
  struct Contents {
    weak var service: CBService?
    var properties: CBCharacteristicProperties
    var value: Data?
    var descriptors: [CBDescriptor]?
    var isNotifying = false
  }

  let contents: Guarded<Contents>
  /// The handle of the value on the peripheral; 0 for a characteristic of this program.
  let handle: UInt16

  init(
    type: CBUUID, properties: CBCharacteristicProperties, value: Data? = nil, handle: UInt16 = 0,
    service: CBService? = nil
  ) {
    self.handle = handle
    contents = Guarded(Contents(service: service, properties: properties, value: value))
    super.init(type: type)
  }

  /// The service it belongs to.
  open weak var service: CBService? { contents[\.service] }

  /// What may be done with it.
  open var properties: CBCharacteristicProperties { contents[\.properties] }

  /// The value that was read or notified last; nil before that.
  open var value: Data? { contents[\.value] }

  /// Its descriptors, in order of their handles; nil until they were discovered.
  open var descriptors: [CBDescriptor]? { contents[\.descriptors] }

  /// Whether this manager is subscribed to it.
  open var isNotifying: Bool { contents[\.isNotifying] }

  /// Always false.
  @available(*, deprecated)
  open var isBroadcasted: Bool { false }

  /// For people.
  open override var description: String {
    let length = value.map { "\($0.count) bytes" } ?? "(null)"
    return """
      <CBCharacteristic: UUID = \(uuid), properties = 0x\(String(properties.rawValue, radix: 16)), value = \(length), \
      notifying = \(isNotifying ? "YES" : "NO")>
      """
  }
}
