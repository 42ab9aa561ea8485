import Bluetooth

/// An address as a call names it, with or without its type.
struct NamedAddress {
  private let value: UInt64
  private let kind: DeviceAddress.Kind?

  /// Reads the words of a call.
  /// - Parameter member: the name of the type's member, for the error.
  /// - Returns: nil if the text is not an address.
  /// - Throws: `BledError.invalidParameter` for a type other than "public" and "random".
  init?(_ text: String, kind word: String?, _ member: String = "addressType") throws(BluetoothError) {
    guard let address = DeviceAddress(text, kind: .public) else { return nil }
    value = address.value
    kind = word.flatMap { DeviceAddress.Kind(word: $0) }
    guard word == nil || kind != nil else {
      throw BledError.invalidParameter.error("\"\(member)\" must be \"public\" or \"random\"")
    }
  }

  /// Whether the call says the type.
  var hasKind: Bool { kind != nil }

  /// The address; without a type random if the two top bits are set, else public.
  var address: DeviceAddress {
    let random = DeviceAddress(value: value, kind: .random)
    return DeviceAddress(value: value, kind: kind ?? (random.isStaticRandom ? .random : .public))
  }

  /// The addresses that may be meant.
  var candidates: [DeviceAddress] {
    DeviceAddress.Kind.allCases.filter { kind == nil || kind == $0 }.map { DeviceAddress(value: value, kind: $0) }
  }
}
