import Adapter
import Bluetooth
import Testing

@testable import BledCore

/// The tables of the machines, step by step.
@Suite struct MachineTests {
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

  @Test("A kept link comes back by itself, at once if it lasted, else with a back-off, until it is let go (P6)")
  func keptLink() {
    var machine = ConnectMachine<String, Int>()
    var now = Instant.zero
    _ = machine.want("a", 1, keeps: true)
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

  @Test("Whoever asks for a link that others keep has all the tries (P6)", arguments: [false, true])
  func triesOfKeepersDoNotCount(asksWhileNegotiating: Bool) {
    var machine = ConnectMachine<String, Int>()
    _ = machine.want("a", 1, keeps: true)
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
    _ = machine.want("a", 1, keeps: true)
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

  @Test func theDeviceIsToldOnceForAllSubscribers() {
    var machine = SubscriptionMachine<String>()
    var joined = machine.join("a", as: nil, else: .notification)
    #expect(joined)
    joined = machine.join("b", as: nil, else: .notification)
    #expect(joined)
    #expect(machine.members == ["a", "b"], "P15: the route exists before the device is told")
    #expect(machine.mustSwitch(on: true))
    #expect(machine.switching(on: true) == .notification)
    #expect(machine.mustSwitch(on: true), "as long as it is not known whether it did")
    machine.switched(on: true)
    #expect(!machine.mustSwitch(on: true))
    machine.leave("a")
    #expect(!machine.mustSwitch(on: false))
    machine.leave("b")
    #expect(machine.mustSwitch(on: false) && !machine.isIdle)
    joined = machine.join("a", as: nil, else: .notification)
    #expect(joined)
    #expect(!machine.mustSwitch(on: false) && !machine.mustSwitch(on: true), "who comes back in time finds it on")
    machine.leave("a")
    #expect(machine.switching(on: false) == [])
    #expect(machine.mustSwitch(on: false))
    machine.switched(on: false)
    #expect(machine.isIdle)
  }

  @Test func membersShareTheChoiceOfNotificationsOrIndications() {
    var machine = SubscriptionMachine<String>()
    var joined = machine.join("a", as: nil, else: .notification)
    #expect(joined)
    #expect(machine.switching(on: true) == .notification)
    machine.switched(on: true)
    joined = machine.join("b", as: .indication, else: .notification)
    #expect(!joined && machine.members == ["a"])
    joined = machine.join("a", as: .indication, else: .notification)
    #expect(joined, "who is alone may choose again")
    #expect(machine.mustSwitch(on: true))
    #expect(machine.switching(on: true) == .indication)
    machine.switched(on: true)
    joined = machine.join("b", as: nil, else: .notification)
    #expect(joined && machine.choice == .indication)
    #expect(!machine.mustSwitch(on: true), "who has no choice takes what others have chosen")
    machine.leave("a")
    machine.leave("b")
    joined = machine.join("c", as: nil, else: .notification)
    #expect(joined && machine.choice == .notification)
    #expect(machine.mustSwitch(on: true), "the device was told otherwise")
  }

  @Test func aRefusedSubscriptionLeavesNobodyBehind() {
    var machine = SubscriptionMachine<String>()
    let joined = machine.join("a", as: nil, else: .notification)
    #expect(joined)
    #expect(machine.switching(on: true) == .notification)
    machine.refused()
    machine.leave("a")
    #expect(machine.isIdle && !machine.mustSwitch(on: false))
  }

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

  @Test func workTakesTurns() {
    var queue = FairQueue<String, Int>()
    for number in 1...3 { queue.append(number, of: "a") }
    for number in 11...12 { queue.append(number, of: "b") }
    var order: [Int] = []
    while let next = queue.next() { order.append(next.element) }
    #expect(order == [1, 11, 2, 12, 3])
    queue.append(1, of: "a")
    queue.append(2, of: "b")
    #expect(queue.removeAll(of: "a") == [1])
    #expect(queue.next()?.element == 2)
    #expect(queue.isEmpty)
  }

  @Test("A newcomer goes before the one that has just had its turn")
  func newcomers() {
    var queue = FairQueue<String, Int>()
    for number in 1...3 { queue.append(number, of: "a") }
    #expect(queue.next()?.element == 1)
    queue.append(11, of: "b")
    queue.append(21, of: "c")
    #expect(queue.next()?.element == 11)
    queue.append(12, of: "b")
    #expect(queue.next()?.element == 21)
    // Its turn was before that of b.
    #expect(queue.next()?.element == 2)
    #expect(queue.next()?.element == 12)
    var users = UserQueue<Int, Int>()
    for number in 1...3 { users.append(number, of: .init(user: 1000, member: number)) }
    #expect(users.next() == 1)
    users.append(11, of: .init(user: 1001, member: 4))
    #expect(users.next() == 11)
    #expect(users.next() == 2)
    users.prepend(2, of: .init(user: 1000, member: 2))
    users.append(12, of: .init(user: 1001, member: 4))
    #expect(users.next() == 12)
    #expect(users.next() == 3)
    #expect(users.next() == 2)
  }

  @Test("Users take turns, whatever number of sessions they have")
  func usersTakeTurns() {
    var queue = UserQueue<Int, Int>()
    for session in 1...3 {
      for number in 1...2 { queue.append(session * 10 + number, of: .init(user: 1000, member: session)) }
    }
    for number in 1...4 { queue.append(number, of: .init(user: 1001, member: 4)) }
    var order: [Int] = []
    while let next = queue.next() { order.append(next) }
    #expect(order == [11, 1, 21, 2, 31, 3, 12, 4, 22, 32])
    queue.append(1, of: .init(user: 1000, member: 1))
    queue.append(2, of: .init(user: 1000, member: 2))
    queue.prepend(0, of: .init(user: 1000, member: 2))
    #expect(queue.last(of: .init(user: 1000, member: 2)) == 2)
    #expect(queue.removeAll(of: .init(user: 1000, member: 1)) == [1])
    #expect(queue.next { $0 > 0 } == nil)
    #expect(queue.next() == 0)
    #expect(queue.next() == 2)
    #expect(queue.isEmpty)
  }
}
