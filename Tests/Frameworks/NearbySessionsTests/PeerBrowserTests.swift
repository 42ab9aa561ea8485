import Synchronization
import TestSupport
import Testing

@testable import NearbySessions

/// Advertisements of strangers.
@Suite struct PeerBrowserTests {
  private static func mark(_ revision: UInt8) throws -> PeerDescription.Mark {
    try #require(PeerDescription.Mark(serviceData: [0, 0, 0, 0, 0, 0, 0, 9, revision, 1]))
  }

  @Test("a device that changes its advertisement all the time is read once at a time, and found in the end")
  func changes() async throws {
    let looks = Mutex((present: 0, most: 0))
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let (changes, output) = AsyncThrowingStream.makeStream(of: NearbyChange.self, throwing: (any Error).self)
    let browser = PeerBrowser(own: 1, output) { _, identifier, _ in
      looks.withLock { $0 = ($0.present + 1, max($0.most, $0.present + 1)) }
      for await _ in gate { break }
      looks.withLock { $0.present -= 1 }
      return PeerDescription(
        identifier: identifier, revision: 0, isInviting: true, psm: 128, name: "Eve", information: [:])
    }
    for revision in 0..<200 as Range<UInt8> {
      await browser.discovered(try Self.mark(revision), "device")
      await Task.yield()
    }
    opener.finish()
    for try await case .found(let peer) in changes {
      #expect(peer.name == "Eve" && peer.identifier == 9)
      break
    }
    #expect(looks.withLock { $0.most } == 1)
  }

  @Test("a device that cannot be read for long is found in the end, although its advertisement stays the same")
  func lateReading() async throws {
    let looks = Mutex(0)
    let (changes, output) = AsyncThrowingStream.makeStream(of: NearbyChange.self, throwing: (any Error).self)
    let browser = PeerBrowser(own: 1, output, firstPause: .zero) { _, identifier, isRetry in
      #expect(isRetry == (looks.withLock { $0 } > 0))
      guard
        looks.withLock({
          $0 += 1; return $0
        }) > 20
      else { return nil }
      return PeerDescription(
        identifier: identifier, revision: 0, isInviting: true, psm: 128, name: "Eve", information: [:])
    }
    await browser.discovered(try Self.mark(0), "device")
    for try await case .found(let peer) in changes {
      #expect(peer.name == "Eve")
      break
    }
  }

  @Test("nothing is read after the look around has ended")
  func ended() async throws {
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let (_, output) = AsyncThrowingStream.makeStream(of: NearbyChange.self, throwing: (any Error).self)
    let browser = PeerBrowser(own: 1, output, firstPause: .zero) { _, _, _ in
      for await _ in gate { break }
      return nil
    }
    await browser.discovered(try Self.mark(0), "device")
    #expect(await browser.isReading)
    await browser.end()
    opener.finish()
    try await until { await !browser.isReading }
  }
}
