import PhoneServices
import Testing

@Suite struct MediaTests {
  @Test func updatesAreReadAndWritten() throws {
    let update = try #require(MediaUpdate([2, 2, 1, 0x41, 0x42]))
    #expect(update.attribute == .title && update.value == "AB" && update.isTruncated)
    #expect(update.octets == [2, 2, 1, 0x41, 0x42])
    #expect(MediaUpdate([0, 1]) == nil)
    #expect(MediaUpdate([3, 0, 0]) == nil && MediaUpdate([0, 3, 0]) == nil)
    #expect(MediaUpdate([0, 0, 0])?.value == "")
    #expect(MediaUpdate([0, 0, 0] + [UInt8](repeating: 0x41, count: 513)) == nil)
  }

  @Test func allAttributesAreSubscribedTo() {
    #expect(MediaAttribute.subscriptions == [[0, 0, 1, 2], [1, 0, 1, 2, 3], [2, 0, 1, 2, 3]])
    #expect(MediaAttribute.album.octets == [2, 1])
    #expect(MediaCommand.next.octets == [3])
    #expect(MediaCommand.list([0, 1, 200, 1]) == [.play, .pause])
  }

  @Test func theStateIsKept() {
    var state = MediaState()
    func update(_ attribute: MediaAttribute, _ value: String) -> Bool {
      guard let update = MediaUpdate(attribute.octets + [0] + Array(value.utf8)) else { return false }
      return state.update(update)
    }
    #expect(state.playback == nil && state.rate == nil)
    #expect(update(.playback, "1,1.0,12.5"))
    #expect(!update(.playback, "1,1.0,12.5"))
    #expect(state.playback == .playing && state.rate == 1 && state.elapsed == 12.5)
    #expect(update(.volume, "7") && state.volume == 1)
    #expect(update(.duration, "180.5") && state.duration == 180.5)
    // A phone may send anything.
    for text in ["", ",,,,,,", "9,nan,inf", "-1,x", "99999999999999999999,y"] {
      _ = update(.playback, text)
      #expect(state.playback == nil && state.rate == nil)
    }
    #expect(!update(.artist, ""))
  }

  @Test func refusals() {
    #expect(AMS.refusal(0xA1) == "invalid command")
    #expect(AMS.refusal(0x05) == nil)
  }
}
