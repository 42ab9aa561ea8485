import Bluetooth
import Testing

@testable import bleshell

/// Names of users in messages.
@Suite struct UserNamesTests {
  private let name: (UInt32) -> String? = { $0 == 7 ? "ann" : nil }

  private func named(_ message: String, _ user: UInt32 = 7) -> String {
    BledError.notPermitted.error(message).naming(user, name).message
  }

  @Test("a refusal names this user, whose number another word may have")
  func refusal() {
    #expect(
      named("user 7 lacks \"scan\", granted to root: have \"user:7\" added to policy.scan")
        == "user ann lacks \"scan\", granted to root: have \"user:ann\" added to policy.scan")
    for text in ["user 70 lacks it", "the device is called user 7 ", "user 8 lacks it"] { #expect(named(text) == text) }
    #expect(named("user 8 lacks it", 8) == "user 8 lacks it", "without a name")
    let other = GAPError.timeout.error("user 7 lacks it")
    #expect(other.naming(7, name) == other)
  }
}
