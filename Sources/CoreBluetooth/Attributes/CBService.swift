/// A service of a peripheral, or one of this program (`CBMutableService`).
open class CBService: CBAttribute {
  struct Contents {
    weak var peripheral: CBPeripheral?
    var includedServices: [CBService]?
    var characteristics: [CBCharacteristic]?
  }

  let contents: Guarded<Contents>
  /// The handle of the declaration on the peripheral; 0 for a service of this program.
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

  /// Whether it is a primary service.
  open var isPrimary: Bool { primary }

  /// The services it includes; nil until they were discovered.
  open var includedServices: [CBService]? { contents[\.includedServices] }

  /// Its characteristics, in order of their handles; nil until they were discovered.
  open var characteristics: [CBCharacteristic]? { contents[\.characteristics] }

  /// For people.
  open override var description: String {
    "<CBService: isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
  }
}
