import Adapter
import Bluetooth
import Testing

@testable import BledCore

struct ParameterArbiterTests {
  private let usual = ConnectionParameters()
  private let quick = ConnectionParameters(
    interval: .microseconds(7500)...(.milliseconds(15)), latency: 0, supervisionTimeout: .seconds(4))
  private let inForce = LinkParameters(interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(4))
  private let asWanted = LinkParameters(
    interval: .microseconds(11_250), latency: 0, supervisionTimeout: .seconds(4))

  @Test func onlyWhatIsNotInForceIsAskedFor() {
    var arbiter = ParameterArbiter()
    #expect(arbiter.want(nil, else: usual, current: inForce) == nil)
    #expect(arbiter.want(nil, else: usual, current: nil) == nil)
    #expect(arbiter.want(quick, else: usual, current: inForce) == quick)
    // The procedure under way may end with other parameters.
    #expect(arbiter.want(nil, else: usual, current: inForce) == usual)
    arbiter.settled()
    arbiter.settled()
    #expect(arbiter.want(quick, else: usual, current: asWanted) == nil)
    #expect(arbiter.want(nil, else: nil, current: asWanted) == nil)
  }

  @Test func aLinkThatSharedTheInitiatorWithAQuickerOneGetsItsOwnParameters() {
    var arbiter = ParameterArbiter()
    #expect(arbiter.want(nil, else: usual, current: asWanted) == usual)
  }

  @Test func aDeviceMayHaveWhatItAsksForWhereNobodyWantsAnything() {
    var arbiter = ParameterArbiter()
    _ = arbiter.want(nil, else: usual, current: inForce)
    #expect(arbiter.changed(to: asWanted) == nil)
  }

  @Test func aDeviceThatInsistsGetsItsWayUntilSomethingElseIsWanted() {
    var arbiter = ParameterArbiter()
    #expect(arbiter.want(quick, else: usual, current: inForce) == quick)
    #expect(arbiter.changed(to: inForce) == nil)
    #expect(arbiter.changed(to: asWanted) == nil)
    arbiter.settled()
    for _ in 0..<3 {
      #expect(arbiter.changed(to: inForce) == quick)
      #expect(arbiter.changed(to: asWanted) == nil)
      arbiter.settled()
    }
    #expect(arbiter.changed(to: inForce) == nil)
    // A repetition is not another request.
    #expect(arbiter.want(quick, else: usual, current: asWanted) == nil)
    #expect(arbiter.changed(to: inForce) == nil)
    _ = arbiter.want(usual, else: usual, current: inForce)
    #expect(arbiter.changed(to: asWanted) == usual)
  }
}
