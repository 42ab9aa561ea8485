/// A service of this program, to be published with `CBPeripheralManager.add(_:)`. Changes after that have no effect until
/// it is removed and added again.
open class CBMutableService: CBService {
  /// Makes a service without characteristics.
  /// - Parameters:
  ///   - UUID: What service it is.
  ///   - isPrimary: False for one that is only included by others.
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
