/// A descriptor of a characteristic of a peripheral, or one of this program (`CBMutableDescriptor`).
open class CBDescriptor: CBAttribute {
  struct Contents {
    weak var characteristic: CBCharacteristic?
    var value: Any?
  }

  let contents: Guarded<Contents>
  /// The handle on the peripheral; 0 for a descriptor of this program.
  let handle: UInt16

  init(type: CBUUID, value: Any? = nil, handle: UInt16 = 0, characteristic: CBCharacteristic? = nil) {
    self.handle = handle
    contents = Guarded(Contents(characteristic: characteristic, value: value))
    super.init(type: type)
  }

  /// The characteristic it belongs to.
  open weak var characteristic: CBCharacteristic? { contents[\.characteristic] }

  /// The value that was read last: `NSNumber` for 2900, 2902 and 2903, `String` for 2901, else `Data`.
  open var value: Any? { contents[\.value] }

  /// For people.
  open override var description: String {
    "<CBDescriptor: UUID = \(uuid), value = \(value.map { "\($0)" } ?? "(null)")>"
  }
}
