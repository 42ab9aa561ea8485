import PhoneServices
import Testing

@Suite struct CurrentTimeTests {
  @Test func aTimeIsRead() throws {
    let time = try #require(CurrentTime([0xEA, 0x07, 11, 25, 14, 8, 6, 3, 128, 2]))
    #expect(time.text == "2026-11-25T14:08:06")
    #expect(time.dayOfWeek == 3 && time.fraction256 == 128 && time.reasons == 2)
    #expect(CurrentTime([0xEA, 0x07, 11, 25, 14, 8, 6, 0, 0])?.dayOfWeek == nil)
    #expect(CurrentTime([0xE8, 0x07, 2, 29, 0, 0, 0, 0, 0]) != nil)
  }

  @Test(arguments: [
    [0xEA, 0x07, 11, 25, 14, 8, 6, 3], [0, 0, 11, 25, 14, 8, 6, 3, 0], [0xEA, 0x07, 13, 1, 0, 0, 0, 0, 0],
    [0xEA, 0x07, 11, 31, 0, 0, 0, 0, 0], [0xEA, 0x07, 2, 29, 0, 0, 0, 0, 0], [0xEA, 0x07, 1, 0, 0, 0, 0, 0, 0],
    [0xEA, 0x07, 1, 1, 24, 0, 0, 0, 0], [0xEA, 0x07, 1, 1, 0, 60, 0, 0, 0], [0xEA, 0x07, 1, 1, 0, 0, 60, 0, 0],
    [0xEA, 0x07, 1, 1, 0, 0, 0, 8, 0], [],
  ])
  func aTimeThatDoesNotExistIsNone(octets: [UInt8]) { #expect(CurrentTime(octets) == nil) }
}
