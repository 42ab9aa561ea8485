import Bluetooth
import Testing

@testable import BledCore

/// Addresses as calls name them.
@Suite struct NamedAddressTests {
  @Test("A type that is missing follows from the two top bits, and either may be meant")
  func missingKind() throws {
    let fixed = try #require(NamedAddress("C0:00:00:00:00:01", kind: nil))
    #expect(fixed.address == DeviceAddress("C0:00:00:00:00:01", kind: .random))
    let other = try #require(NamedAddress("40:00:00:00:00:01", kind: nil))
    #expect(other.address == DeviceAddress("40:00:00:00:00:01", kind: .public))
    #expect(Set(other.candidates.map(\.kind)) == [.public, .random])
  }

  @Test("A type that is given counts alone")
  func givenKind() throws {
    let named = try #require(NamedAddress("C0:00:00:00:00:01", kind: .public))
    #expect(named.candidates == [named.address] && named.address.kind == .public)
  }

  @Test("An identifier is not an address, with a type or without")
  func identifier() {
    for kind in [nil, DeviceAddress.Kind.public] { #expect(NamedAddress("7D49A1B2", kind: kind)?.address == nil) }
  }
}
