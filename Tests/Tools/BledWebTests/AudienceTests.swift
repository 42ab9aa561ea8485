import Testing

@testable import BledWeb

/// The time for which links and the scan outlast the pages.
@Suite struct AudienceTests {
  private let start = Duration.seconds(5)

  @Test("Nothing happens before the first page, and everything ends 30 s after the last one")
  func leaving() {
    var audience = Audience()
    #expect(!audience.isPresent(at: start))
    audience.count(0, at: start)
    #expect(!audience.isPresent(at: start))
    audience.count(2, at: start)
    audience.count(1, at: start + .seconds(100))
    #expect(audience.isPresent(at: start + .seconds(1000)))
    audience.count(0, at: start + .seconds(1000))
    #expect(audience.isPresent(at: start + .seconds(1029)))
    // Streams that end twice prolong nothing.
    audience.count(0, at: start + .seconds(1029))
    #expect(!audience.isPresent(at: start + .seconds(1030)))
    #expect(!audience.isPresent(at: start + .seconds(1031)))
  }

  @Test("A page that returns in time finds everything as it was")
  func returning() {
    var audience = Audience()
    audience.count(1, at: start)
    audience.count(0, at: start)
    audience.count(1, at: start + .seconds(29))
    #expect(audience.isPresent(at: start + .seconds(60)))
  }
}
