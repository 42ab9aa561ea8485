/// A descriptor of this program: User Description (2901, a `String`) or Presentation Format (2904, `Data`). The others
/// are the system's, and asking for them ends the program.
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
