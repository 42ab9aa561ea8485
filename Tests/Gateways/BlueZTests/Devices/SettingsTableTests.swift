import Testing

@testable import BlueZ

/// The settings of devices that are kept.
struct SettingsTableTests {
  private func key(_ number: Int) -> String { "C0:DE:00:00:00:\(number % 90 + 10) r\(number)" }

  @Test func theOneThatWasSetTheLongestAgoGivesWay() throws {
    var table = SettingsTable([:])
    var victims = [table.change(key(0)) { $0.isTrusted = true }]
    for number in 1..<SettingsTable.maximum { victims.append(table.change(key(number)) { $0.alias = "a" }) }
    // The device has an entry already.
    victims.append(table.change(key(1)) { $0.alias = "b" })
    #expect(victims.allSatisfy { $0 == nil })
    let victim = table.change(key(1000)) { $0.alias = "a" }
    #expect(victim == key(2))
    for number in 1001..<3000 { _ = table.change(key(number)) { $0.alias = "a" } }
    #expect(table.entries.count == SettingsTable.maximum)
    #expect(table[key(0)]?.isTrusted == true, "a trusted device stays longer")
    #expect(table[key(1)] == nil)
  }

  @Test func whatIsSetBackIsNotKept() {
    var table = SettingsTable([:])
    _ = table.change(key(0)) { $0.isTrusted = true }
    _ = table.change(key(0)) { $0.isTrusted = false }
    #expect(table.entries.isEmpty)
  }

  /// A file of an earlier release may have more, and longer ones.
  @Test func aFileWithTooMuch() {
    var setting = DeviceSettings()
    setting.alias = String(repeating: "a", count: 249)
    #expect(SettingsTable([key(0): setting]).entries.isEmpty)
    setting.alias = "a"
    let many = Dictionary(uniqueKeysWithValues: (0..<2000).map { (key($0), setting) })
    #expect(SettingsTable(many).entries.count == SettingsTable.maximum)
  }
}
