import Adapter
import Bluetooth
import Testing

@testable import BledCore

/// The table of `ConnectMachine`, step by step.
@Suite struct ConnectMachineTests {
  private static let reason = GAPError.connectionFailed.error("reason")

  private func words(_ actions: [ConnectMachine<String, Int>.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .connect(let delay): delay == .zero ? "connect" : "connect after \(delay)"
      case .cancelConnect: "cancel"
      case .negotiate: "negotiate"
      case .disconnect: "disconnect"
      case .answer(let request, let error): "answer \(request) \(error?.name ?? "ok")"
      case .tellDisconnected(let who, let error, let isReconnecting):
        "tell \(who) \(error?.name ?? "requested")\(isReconnecting ? ", reconnecting" : "")"
      case .tellFailed(let who, let error): "tell \(who) \(error.name)"
      case .tellConnected(let who): "tell \(who) connected"
      }
    }
  }

  @Test func theFirstBringsTheLinkUpAndTheLastLetsItGo() {
    var machine = ConnectMachine<String, Int>()
    #expect(words(machine.want("a", 1)) == ["connect"])
    #expect(words(machine.want("b", 2)) == [])
    #expect(words(machine.linkUp(isOurs: true)) == ["negotiate"])
    #expect(words(machine.negotiated(at: .zero)) == ["answer 1 ok", "answer 2 ok"])
    #expect(words(machine.want("c", 3)) == ["answer 3 ok"])
    #expect(words(machine.release("a")) == ["tell a requested"])
    #expect(words(machine.release("c")) == ["tell c requested"])
    #expect(words(machine.release("b")) == ["tell b requested", "disconnect"])
    #expect(words(machine.want("a", 4)) == [], "waits for the end of the old link")
    #expect(words(machine.linkDown(Self.reason, at: .zero)) == ["connect"])
    #expect(words(machine.release("a")) == ["answer 4 cancelled", "cancel"])
    #expect(machine.state == .idle)
  }

  @Test func aLinkThatIsOfNoUseEndsForCallsAndPausesForOthers() {
    var machine = ConnectMachine<String, Int>()
    #expect(words(machine.unusable(Self.reason, at: .zero)) == [])
    _ = machine.want("a", 1)
    _ = machine.linkUp(isOurs: true)
    #expect(words(machine.unusable(Self.reason, at: .zero)) == ["answer 1 connectionFailed", "disconnect"])
    #expect(machine.state == .ending)
    #expect(words(machine.unusable(Self.reason, at: .zero)) == [])
    #expect(words(machine.linkDown(Self.reason, at: .zero)) == [] && machine.state == .idle)
    _ = machine.rejoin("b", persists: true)
    for pause in ["connect", "connect after 0.25 seconds", "connect after 0.5 seconds"] {
      _ = machine.linkUp(isOurs: true)
      #expect(words(machine.unusable(Self.reason, at: .zero)) == ["disconnect"])
      #expect(words(machine.linkDown(Self.reason, at: .zero)) == [pause])
    }
    _ = machine.linkUp(isOurs: true)
    #expect(words(machine.negotiated(at: .zero)) == ["tell b connected"])
    #expect(words(machine.unusable(Self.reason, at: .zero)) == [], "it is in use")
  }

  @Test func aLinkOfTheDeviceThatIsOfNoUseGoesOn() {
    var machine = ConnectMachine<String, Int>()
    _ = machine.linkUp(isOurs: false)
    #expect(words(machine.secured()) == [], "nobody wants it")
    _ = machine.want("a", 1)
    #expect(words(machine.secured()) == [], "it is being negotiated")
    #expect(words(machine.rejoin("b", persists: true)) == [])
    #expect(words(machine.unusable(Self.reason, at: .zero)) == ["answer 1 connectionFailed"])
    #expect(machine.state == .linked)
    #expect(words(machine.secured()) == ["negotiate"])
    #expect(words(machine.negotiated(at: .zero)) == ["tell b connected"])
    #expect(words(machine.secured()) == [])
  }

  @Test func whatIsRefusedEndsForAll() {
    let blocked = GAPError.blocked.error("")
    var machine = ConnectMachine<String, Int>()
    _ = machine.want("a", 1)
    _ = machine.rejoin("b", persists: true)
    #expect(words(machine.refused(blocked)) == ["answer 1 blocked", "tell b blocked", "cancel"])
    #expect(machine.state == .idle && machine.persistent.isEmpty)
    _ = machine.want("a", 2, persists: true)
    _ = machine.linkUp(isOurs: true)
    _ = machine.negotiated(at: .zero)
    #expect(words(machine.refused(blocked)) == ["tell a blocked", "disconnect"])
    #expect(words(machine.refused(blocked)) == [])
    #expect(words(machine.linkDown(Self.reason, at: .zero)) == [])
    #expect(machine.state == .idle)
    _ = machine.linkUp(isOurs: false)
    #expect(words(machine.refused(blocked)) == ["disconnect"], "also a link that the device started")
  }

  @Test func eachRequestEndsOnce() {
    var machine = ConnectMachine<String, Int>()
    _ = machine.want("a", 1)
    _ = machine.want("a", 2)
    _ = machine.want("b", 3)
    #expect(words(machine.expired(1, GAPError.timeout.error(""))) == ["answer 1 timeout"])
    #expect(words(machine.expired(1, GAPError.timeout.error(""))) == [])
    #expect(words(machine.release("b")) == ["answer 3 cancelled"])
    #expect(words(machine.failed(Self.reason)) == ["answer 2 connectionFailed", "cancel"])
    #expect(words(machine.failed(Self.reason)) == [])
    #expect(words(machine.linkUp(isOurs: true)) == ["disconnect"], "a link that nobody wants any more goes down")
  }

  @Test func aLinkThatDropsAtOnceIsTriedAgainAFewTimes() {
    var machine = ConnectMachine<String, Int>()
    _ = machine.want("a", 1)
    for _ in 0..<ConnectMachine<String, Int>.maximumRetries {
      #expect(words(machine.linkUp(isOurs: true)) == ["negotiate"])
      #expect(words(machine.linkDown(Self.reason, at: .zero)) == ["connect"])
    }
    _ = machine.linkUp(isOurs: true)
    #expect(words(machine.linkDown(Self.reason, at: .zero)) == ["answer 1 connectionFailed"])
    #expect(machine.state == .idle)
  }

  /// The commonest failure in the field: nothing was received from the device.
  @Test func aLinkThatWasNeverThereIsTriedAgainForAsLongAsItIsAskedFor() {
    let reason = BluetoothError(domain: .hci, code: 0x3E, name: "connectionFailedToBeEstablished", message: "")
    var machine = ConnectMachine<String, Int>()
    _ = machine.want("a", 1)
    let pauses = ["connect", "connect after 0.25 seconds", "connect after 0.5 seconds"]
    for pause in pauses + Array(repeating: "connect after 1.0 seconds", count: 3 * 5) {
      #expect(words(machine.linkUp(isOurs: true)) == ["negotiate"])
      #expect(words(machine.linkDown(reason, at: .zero)) == [pause])
    }
    _ = machine.linkUp(isOurs: true)
    #expect(words(machine.negotiated(at: .zero)) == ["answer 1 ok"])
    _ = machine.release("a")
    _ = machine.linkDown(Self.reason, at: .zero)
    _ = machine.want("a", 2)
    _ = machine.linkUp(isOurs: true)
    #expect(words(machine.linkDown(reason, at: .zero)) == ["connect"], "a link that was there ends the pauses")
  }

  @Test("A kept link comes back by itself, at once if it lasted, else with a back-off, until it is let go (P6)")
  func keptLink() {
    var machine = ConnectMachine<String, Int>()
    var now = Instant.zero
    _ = machine.want("a", 1, persists: true)
    _ = machine.want("b", 2)
    _ = machine.linkUp(isOurs: true)
    _ = machine.negotiated(at: now)
    now = now.advanced(by: .seconds(60))
    #expect(
      words(machine.linkDown(Self.reason, at: now))
        == ["tell a connectionFailed, reconnecting", "tell b connectionFailed", "connect"])
    #expect(machine.isWaiting("a") && !machine.isWaiting("b"))
    for delay in ["connect after 0.25 seconds", "connect after 0.5 seconds", "connect after 1.0 seconds"] {
      #expect(words(machine.linkUp(isOurs: true)) == ["negotiate"])
      #expect(words(machine.negotiated(at: now)) == ["tell a connected"])
      #expect(words(machine.linkDown(Self.reason, at: now)) == ["tell a connectionFailed, reconnecting", delay])
    }
    #expect(words(machine.failed(Self.reason)) == [], "the request stays, whatever prevents the link")
    #expect(words(machine.want("b", 3)) == ["connect"], "who asks does not wait for the back-off")
    #expect(words(machine.release("a")) == [])
    #expect(words(machine.release("b")) == ["answer 3 cancelled", "cancel"])
    #expect(machine.state == .idle)
  }

  @Test("A session that requests a link others want back has all the retries (P6)", arguments: [false, true])
  func triesOfKeepersDoNotCount(asksWhileNegotiating: Bool) {
    var machine = ConnectMachine<String, Int>()
    _ = machine.want("a", 1, persists: true)
    _ = machine.linkUp(isOurs: true)
    _ = machine.negotiated(at: .zero)
    for _ in 0..<2 * ConnectMachine<String, Int>.maximumRetries {
      _ = machine.linkDown(Self.reason, at: .zero)
      _ = machine.linkUp(isOurs: true)
    }
    if !asksWhileNegotiating { _ = machine.linkDown(Self.reason, at: .zero) }
    #expect(words(machine.want("b", 2)) == (asksWhileNegotiating ? [] : ["connect"]))
    for _ in 0..<ConnectMachine<String, Int>.maximumRetries {
      _ = machine.linkUp(isOurs: true)
      #expect(words(machine.linkDown(Self.reason, at: .zero)) == ["connect"])
    }
    _ = machine.linkUp(isOurs: true)
    #expect(words(machine.linkDown(Self.reason, at: .zero)).first == "answer 2 connectionFailed")
  }

  @Test func whoAsksAgainDecidesWhetherTheLinkIsKept() {
    var machine = ConnectMachine<String, Int>()
    _ = machine.want("a", 1, persists: true)
    _ = machine.linkUp(isOurs: true)
    _ = machine.negotiated(at: .zero)
    _ = machine.want("a", 2)
    #expect(words(machine.linkDown(Self.reason, at: .zero)) == ["tell a connectionFailed"])
    #expect(machine.state == .idle)
  }

  @Test func aLinkOfTheOtherSideIsLeftAloneUntilWantedAndStaysAfterwards() {
    var machine = ConnectMachine<String, Int>()
    #expect(words(machine.linkUp(isOurs: false)) == [])
    #expect(words(machine.want("a", 1)) == ["negotiate"])
    #expect(words(machine.negotiated(at: .zero)) == ["answer 1 ok"])
    #expect(words(machine.release("a")) == ["tell a requested"])
    #expect(words(machine.linkDown(Self.reason, at: .zero)) == [])
  }
}
