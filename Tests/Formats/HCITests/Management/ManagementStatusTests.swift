import HCI
import Testing

@Suite struct ManagementStatusTests {
  @Test func eachStatusHasWordsOfItsOwn() {
    let words = (0...0x14 as ClosedRange<UInt8>).map { "\(ManagementStatus(rawValue: $0))" }
    #expect(Set(words).count == words.count && words.allSatisfy { !$0.contains("status") })
    #expect("\(ManagementStatus(rawValue: 0x7F))" == "the kernel gave the unknown mgmt status 0x7f")
  }
}
