import Bluetooth

/// A UUID of a service, characteristic or descriptor: 16, 32 or 128 bits (Core 5.4, Vol 3, Part B, 2.5.1).
///
/// Two of them are equal when their 128-bit forms are.
open class CBUUID: NSObject, NSCopying {
  package let value: BluetoothUUID

  init(_ value: BluetoothUUID) {
    self.value = value
  }

  /// A placeholder: all zeros.
  public override convenience init() { self.init(BluetoothUUID(high: 0, low: 0)) }

  /// Reads 4 or 8 hex digits, or 32 of them with dashes as 8-4-4-4-12, with or without "0x" before them. Any other text
  /// ends the program.
  public init(string theString: String) {
    guard let value = BluetoothUUID(theString) else {
      Misuse.raise("String \(theString) does not represent a valid UUID")
    }
    self.value = value
  }

  /// Reads 2, 4 or 16 octets, most significant first. Any other number of octets ends the program.
  public init(data theData: Data) {
    guard let value = BluetoothUUID(littleEndian: theData.reversed()) else {
      Misuse.raise("Data \(Array(theData)) does not represent a valid UUID")
    }
    self.value = value
  }

  /// Takes a UUID of Foundation.
  public init(nsuuid theUUID: UUID) {
    let octets = withUnsafeBytes(of: theUUID.uuid) { Array($0) }
    func half(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }
    value = BluetoothUUID(high: half(octets[..<8]), low: half(octets[8...]))
  }

  /// Takes a UUID of Foundation; the older spelling.
  public convenience init(NSUUID theUUID: UUID) {
    self.init(nsuuid: theUUID)
  }

  /// The shortest form as octets, most significant first: 2, 4 or 16.
  open var data: Data {
    guard let short = value.short32 else { return Data(value.littleEndian128.reversed()) }
    let octets = withUnsafeBytes(of: short.bigEndian) { Data($0) }
    return short > 0xFFFF ? octets : Data(octets.suffix(2))
  }

  /// The shortest form as text, upper case: "180D", "12345678", or 128 bits with dashes.
  open var uuidString: String { value.description }

  /// Returns true if the other is a UUID with the same 128-bit form.
  open override func isEqual(_ object: Any?) -> Bool { (object as? CBUUID)?.value == value }

  /// Equal for equal UUIDs.
  open override var hash: Int { value.hashValue }

  /// The assigned name, such as "Heart Rate", or else `uuidString`.
  open override var description: String { value.assignedName ?? uuidString }

  /// A UUID does not change: itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}
