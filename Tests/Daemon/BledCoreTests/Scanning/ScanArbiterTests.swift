import Adapter
import Testing

@testable import BledCore

/// The one scan that serves all requests.
@Suite struct ScanArbiterTests {
  @Test func theScanIsTheUnionOfAllRequests() {
    var arbiter = ScanArbiter<String>()
    let passive = ScanParameters(isActive: false)
    let active = ScanParameters(isActive: true)
    let wide = ScanParameters(isActive: false, interval: .milliseconds(60), window: .milliseconds(60))
    #expect(arbiter.request(passive, of: "a") == .set(passive))
    #expect(arbiter.request(passive, of: "b") == .none)
    #expect(arbiter.request(active, of: "c") == .set(active))
    #expect(
      arbiter.request(wide, of: "b")
        == .set(ScanParameters(isActive: true, interval: .milliseconds(60), window: .milliseconds(60))))
    #expect(arbiter.request(nil, of: "c") == .set(wide))
    #expect(arbiter.request(nil, of: "b") == .set(passive))
    #expect(arbiter.request(nil, of: "a") == .set(nil))
    #expect(arbiter.request(nil, of: "a") == .none)
  }
}
