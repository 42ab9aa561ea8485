import FrameworkSupport

/// The common part of services, characteristics and descriptors.
open class CBAttribute: NSObject {
  private let type: CBUUID

  init(type: CBUUID) {
    self.type = type
  }

  /// The attribute's type.
  open var uuid: CBUUID { type }
}

/// A peripheral's service, or one of this program (`CBMutableService`).
open class CBService: CBAttribute {
  struct Contents {
    weak var peripheral: CBPeripheral?
    var includedServices: [CBService]?
    var characteristics: [CBCharacteristic]?
  }

  let contents: Guarded<Contents>
  /// The declaration handle on the peripheral; 0 for a service of this program.
  let handle: UInt16
  private let primary: Bool

  init(type: CBUUID, primary: Bool, handle: UInt16 = 0, peripheral: CBPeripheral? = nil) {
    self.primary = primary
    self.handle = handle
    contents = Guarded(Contents(peripheral: peripheral))
    super.init(type: type)
  }

  /// The peripheral it belongs to; nil for a service of this program.
  open weak var peripheral: CBPeripheral? { contents[\.peripheral] }

  /// True if it is a primary service.
  open var isPrimary: Bool { primary }

  /// The services it includes; nil until they were discovered.
  open var includedServices: [CBService]? { contents[\.includedServices] }

  /// Its characteristics, in handle order; nil until discovered.
  open var characteristics: [CBCharacteristic]? { contents[\.characteristics] }

  /// A human-readable description.
  open override var description: String {
    "<CBService: isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
  }
}

/// A service of this program, to be published with `CBPeripheralManager.add(_:)`. Changes after that have no effect
/// until it is removed and added again.
open class CBMutableService: CBService {
  /// Makes a service without characteristics.
  /// - Parameters:
  ///   - UUID: The service's UUID.
  ///   - isPrimary: False for a service that is only included by others.
  public init(type UUID: CBUUID, primary isPrimary: Bool) {
    super.init(type: UUID, primary: isPrimary)
  }

  /// The services it includes; they must be published before it.
  open override var includedServices: [CBService]? {
    get { contents[\.includedServices] }
    set { contents[\.includedServices] = newValue }
  }

  /// Its characteristics.
  open override var characteristics: [CBCharacteristic]? {
    get { contents[\.characteristics] }
    set {
      contents[\.characteristics] = newValue
      for characteristic in newValue ?? [] { characteristic.contents[\.service] = self }
    }
  }
}
