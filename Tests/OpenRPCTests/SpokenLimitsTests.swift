import BledRPC
import Testing

@testable import openrpc

@Suite("Limits in words") struct SpokenLimitsTests {
  private func number(_ words: String) -> JSONValue { SpokenLimits(words).apply(to: ["type": "integer"]) }
  private func text(_ words: String) -> JSONValue { SpokenLimits(words).apply(to: ["type": "string"]) }

  @Test("of a number: its range and its unit")
  func numbers() {
    #expect(
      number("The interval in seconds, 0.02 to 10.24; 0.1 if missing.")
        == ["type": "integer", "minimum": .number(0.02), "maximum": .number(10.24), "x-unit": "s"])
    #expect(number("Seconds, 0 to 3600.") == ["type": "integer", "minimum": 0, "maximum": 3600, "x-unit": "s"])
    #expect(number("In dBm, -127 to 20.") == ["type": "integer", "minimum": -127, "maximum": 20, "x-unit": "dBm"])
    #expect(number("The number that names it, 1 or more.") == ["type": "integer", "minimum": 1])
    #expect(number("How many octets are queued.") == ["type": "integer", "minimum": 0, "x-unit": "octets"])
    #expect(number("The number of packets, 1 or more.") == ["type": "integer", "minimum": 1])
    #expect(number("The appearance (Assigned Numbers, 2.6).") == ["type": "integer"])
    #expect(
      SpokenLimits("The primary channels, 37 to 39.").apply(to: ["type": "array", "items": ["type": "integer"]])
        == ["type": "array", "items": ["type": "integer", "minimum": 37, "maximum": 39]])
    let handle: JSONValue = ["type": "integer", "minimum": 0, "maximum": 65535]
    #expect(SpokenLimits("The handle.").apply(to: handle) == handle)
  }

  @Test("of a text: its words, each once, but not an example")
  func texts() {
    #expect(
      text("The PHY, \"1M\" or with `extended` \"coded\"; \"1M\" if missing.")
        == ["type": "string", "enum": ["1M", "coded"]])
    #expect(text("The name by which calls choose it: \"hci0\".") == ["type": "string"])
    let pattern: JSONValue = ["type": "string", "enum": ["low", "high"]]
    #expect(SpokenLimits("Either \"low\" or \"lowest\".").apply(to: pattern) == pattern)
  }
}
