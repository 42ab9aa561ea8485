import Bluetooth

/// An address as a call names it, with or without its type.
struct NamedAddress {
  private let value: UInt64
  private let kind: DeviceAddress.Kind?

  /// Reads a call's address.
  /// - Returns: nil if the text is not an address.
  init?(_ text: String, kind: DeviceAddress.Kind?) {
    guard let address = DeviceAddress(text, kind: .public) else { return nil }
    value = address.value
    self.kind = kind
  }

  /// The address; without a type random if the two top bits are set, else public.
  var address: DeviceAddress {
    let random = DeviceAddress(value: value, kind: .random)
    return DeviceAddress(value: value, kind: kind ?? (random.isStaticRandom ? .random : .public))
  }

  /// The possible addresses.
  var candidates: [DeviceAddress] {
    DeviceAddress.Kind.allCases.filter { kind == nil || kind == $0 }.map { DeviceAddress(value: value, kind: $0) }
  }
}
