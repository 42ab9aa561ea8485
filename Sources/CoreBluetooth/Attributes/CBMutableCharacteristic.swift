/// A characteristic of this program. With a value it is fixed and read-only, and read without the program; without one
/// every read and write asks the delegate.
open class CBMutableCharacteristic: CBCharacteristic {
  private struct Additions {
    var permissions: CBAttributePermissions
    var subscribedCentrals: [CBCentral] = []
  }

  private let additions: Guarded<Additions>

  /// Makes a characteristic.
  /// - Parameters:
  ///   - UUID: What characteristic it is.
  ///   - properties: What centrals may do with it; neither broadcast nor extendedProperties.
  ///   - value: Its fixed value, up to 512 octets; nil to be asked.
  ///   - permissions: Who may read and write the value.
  public init(
    type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
  ) {
    additions = Guarded(Additions(permissions: permissions))
    super.init(type: UUID, properties: properties, value: value)
  }

  /// Who may read and write the value.
  open var permissions: CBAttributePermissions {
    get { additions[\.permissions] }
    set { additions[\.permissions] = newValue }
  }

  /// What centrals may do with it.
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

  /// The centrals that are subscribed to it now.
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
