import BledRPC
import Testing

@testable import BledCore

/// The build of the daemon, as programs and Prometheus see it.
@Suite struct BuildTests {
  @Test("a release names its commit in session.open and in the metrics")
  func release() throws {
    let world = World(commit: "0d8a87161234")
    #expect(try world.client().result(SessionOpen.self, .init()).commit == "0d8a87161234")
    let information = try #require(world.daemon.metrics.first { $0.name == "bled_build_info" })
    #expect(information.samples.map(\.labels) == [["version": Release.version, "commit": "0d8a87161234"]])
  }

  @Test("a development build has a release only")
  func development() throws {
    let world = World()
    #expect(try world.client().result(SessionOpen.self, .init()).commit == nil)
    let information = try #require(world.daemon.metrics.first { $0.name == "bled_build_info" })
    #expect(information.samples.map(\.labels) == [["version": Release.version]])
  }
}
