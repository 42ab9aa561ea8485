import FrameworkSupport

/// A peripheral's characteristic, or one of this program (`CBMutableCharacteristic`).
open class CBCharacteristic: CBAttribute {
  struct Contents {
    weak var service: CBService?
    var properties: CBCharacteristicProperties
    var value: Data?
    var descriptors: [CBDescriptor]?
    var isNotifying = false
  }

  let contents: Guarded<Contents>
  /// The value handle on the peripheral; 0 for a characteristic of this program.
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

  /// The operations allowed on the characteristic.
  open var properties: CBCharacteristicProperties { contents[\.properties] }

  /// The last value read or notified; nil before.
  open var value: Data? { contents[\.value] }

  /// Its descriptors, in handle order; nil until discovered.
  open var descriptors: [CBDescriptor]? { contents[\.descriptors] }

  /// True if this manager is subscribed to it.
  open var isNotifying: Bool { contents[\.isNotifying] }

  /// Always false.
  @available(*, deprecated)
  open var isBroadcasted: Bool { false }

  /// A human-readable description.
  open override var description: String {
    let length = value.map { "\($0.count) bytes" } ?? "(null)"
    return """
      <CBCharacteristic: UUID = \(uuid), properties = 0x\(String(properties.rawValue, radix: 16)), value = \(length), \
      notifying = \(isNotifying ? "YES" : "NO")>
      """
  }
}

/// A characteristic of this program. With a value it is fixed and read-only, and served without the program; without
/// one the delegate handles every read and write.
open class CBMutableCharacteristic: CBCharacteristic {
  private struct Additions {
    var permissions: CBAttributePermissions
    var subscribedCentrals: [CBCentral] = []
  }

  private let additions: Guarded<Additions>

  /// Makes a characteristic.
  /// - Parameters:
  ///   - UUID: The characteristic's UUID.
  ///   - properties: The operations open to centrals; neither broadcast nor extendedProperties.
  ///   - value: Its fixed value, up to 512 octets; nil to be asked.
  ///   - permissions: The permissions to read and write the value.
  public init(
    type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
  ) {
    additions = Guarded(Additions(permissions: permissions))
    super.init(type: UUID, properties: properties, value: value)
  }

  /// The centrals permitted to read and write the value.
  open var permissions: CBAttributePermissions {
    get { additions[\.permissions] }
    set { additions[\.permissions] = newValue }
  }

  /// The operations allowed for centrals.
  open override var properties: CBCharacteristicProperties {
    get { contents[\.properties] }
    set { contents[\.properties] = newValue }
  }

  /// Its fixed value, or nil.
  open override var value: Data? {
    get { contents[\.value] }
    set { contents[\.value] = newValue }
  }

  /// Its descriptors: User Description and Presentation Format; the others are the system's.
  open override var descriptors: [CBDescriptor]? {
    get { contents[\.descriptors] }
    set {
      contents[\.descriptors] = newValue
      for descriptor in newValue ?? [] { descriptor.contents[\.characteristic] = self }
    }
  }

  /// The centrals subscribed to it now.
  open var subscribedCentrals: [CBCentral]? {
    additions[\.subscribedCentrals]
  }

  /// - Returns: False if it was subscribed before.
  func subscribe(_ central: CBCentral) -> Bool {
    additions.with {
      guard !$0.subscribedCentrals.contains(where: { $0 === central }) else { return false }
      $0.subscribedCentrals.append(central)
      return true
    }
  }

  /// - Returns: False if it was not subscribed.
  func unsubscribe(_ central: CBCentral) -> Bool {
    additions.with {
      let count = $0.subscribedCentrals.count
      $0.subscribedCentrals.removeAll { $0 === central }
      return $0.subscribedCentrals.count < count
    }
  }
}
