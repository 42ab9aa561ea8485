import Bluetooth
import Testing

@testable import BledCore

/// Addresses as calls name them.
@Suite struct NamedAddressTests {
  @Test("A type that is missing follows from the two top bits, and either may be meant")
  func missingKind() throws {
    let fixed = try #require(try NamedAddress("C0:00:00:00:00:01", kind: nil))
    #expect(fixed.address == DeviceAddress("C0:00:00:00:00:01", kind: .random) && !fixed.hasKind)
    let other = try #require(try NamedAddress("40:00:00:00:00:01", kind: nil))
    #expect(other.address == DeviceAddress("40:00:00:00:00:01", kind: .public))
    #expect(Set(other.candidates.map(\.kind)) == [.public, .random])
  }

  @Test("A type that is given counts alone; others than public and random are errors with the member's name")
  func givenKind() throws {
    let named = try #require(try NamedAddress("C0:00:00:00:00:01", kind: "public"))
    #expect(named.hasKind && named.candidates == [named.address] && named.address.kind == .public)
    for word in ["", "Public", "static"] {
      let error = #expect(throws: BluetoothError.self) { try NamedAddress("C0:00:00:00:00:01", kind: word, "type") }
      #expect(error?.message == "\"type\" must be \"public\" or \"random\"")
    }
  }

  @Test("An identifier is not an address, whatever the type")
  func identifier() throws {
    for word in [nil, "public", "x"] { #expect(try NamedAddress("7D49A1B2", kind: word)?.address == nil) }
  }
}
