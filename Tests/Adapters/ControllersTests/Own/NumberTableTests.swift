import Testing

@testable import Controllers

@Suite struct NumberTableTests {
  @Test func valuesAreFoundReplacedAndRemoved() {
    var table = NumberTable<String>()
    #expect(table.isEmpty && table.first == nil && table[1] == nil)
    table[7] = "seven"
    table[3] = "three"
    table[0xFFFF] = "last"
    #expect(table.numbers == [3, 7, 0xFFFF] && table.values == ["three", "seven", "last"])
    #expect(table.first == "three" && table.count == 3)
    table[7] = "again"
    #expect(table[7] == "again" && table.count == 3)
    table[3] = nil
    #expect(table.numbers == [7, 0xFFFF])
    #expect(table.remove(7) == "again" && table.remove(7) == nil)
    table[9] = nil
    #expect(table.values == ["last"])
  }
}
