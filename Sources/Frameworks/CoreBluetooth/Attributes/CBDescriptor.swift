import Bluetooth
import FrameworkSupport

/// A descriptor in a peripheral's characteristic, or one of this program (`CBMutableDescriptor`).
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

  /// The last value read: `NSNumber` for 2900, 2902 and 2903, `String` for 2901, else `Data`.
  open var value: Any? { contents[\.value] }

  /// A human-readable description.
  open override var description: String {
    "<CBDescriptor: UUID = \(uuid), value = \(value.map { "\($0)" } ?? "(null)")>"
  }
}

extension CBDescriptor {
  /// The value in the type used by Apple's framework.
  func decode(_ octets: [UInt8]) -> Any {
    switch uuid.value.short16 {
    case 0x2900, 0x2902, 0x2903:
      NSNumber(value: octets.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
    case 0x2901: String(decoding: octets, as: UTF8.self)
    default: Data(octets)
    }
  }
}

/// A descriptor of this program: User Description (2901, a `String`) or Presentation Format (2904, `Data`). Other
/// descriptors belong to the system, and requesting them ends the program.
open class CBMutableDescriptor: CBDescriptor {
  /// Makes a descriptor.
  /// - Parameters:
  ///   - UUID: 2901 or 2904.
  ///   - value: Its value: a `String` or `Data`.
  public init(type UUID: CBUUID, value: Any?) {
    switch (UUID.value.short16, value) {
    case (0x2901, is String), (0x2904, is Data): break
    default: Misuse.raise("A descriptor \(UUID.uuidString) of that value cannot be published")
    }
    super.init(type: UUID, value: value)
  }
}
