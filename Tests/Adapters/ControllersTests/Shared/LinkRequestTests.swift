import Testing

@testable import Controllers

struct LinkRequestTests {
  @Test("The longest packets take the times of the specification (Vol 6, Part B, 4.5.10)")
  func packetTimes() {
    #expect([27, 251].map { LinkRequest.time(of: $0, hasCodedPHY: false) } == [328, 2120])
    #expect([27, 251].map { LinkRequest.time(of: $0, hasCodedPHY: true) } == [2704, 17040])
  }
}
