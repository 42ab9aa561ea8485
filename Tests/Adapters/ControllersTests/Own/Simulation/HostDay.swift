import Adapter
import Bluetooth
import HCI
import TestSupport
import VirtualController

@testable import Controllers

/// Adapters with a host of our own, their controllers and the air between them, in one thread and under virtual time.
final class HostDay {
  let course: Course
  let hosts: [RandomHost]
  private var isOver = false

  init(seed: UInt64) throws {
    course = Course(VirtualScheduler(), seed: seed)
    let models = (0..<3).map { number in
      var model = ControllerModel(address: 0x0011_2233_4400 + UInt64(number))
      (model.answerTime, model.eventDelay) = (.zero...(.milliseconds(4)), .zero...(.milliseconds(30)))
      switch number {
      case 0: break
      case 1: (model.dataLength, model.dataPackets, model.isSlowable, model.features) = (27, 3, true, .bluetooth40)
      // A controller that does one thing at a time.
      default: (model.dataLength, model.dataPackets, model.states, model.features) = (64, 1, [], .bluetooth40)
      }
      return model
    }
    let course = course
    hosts = try models.enumerated().map { number, model in
      try RandomHost(
        number, VirtualController(model, on: course.air), privacy: number == 1 ? .seconds(900) : nil, on: course)
    }
    course.hosts = hosts
  }

  /// Advances the clock, until a fault.
  func walk(_ duration: Duration) {
    let end = course.scheduler.now.advanced(by: duration)
    while course.faults.isEmpty, !course.scheduler.advance(to: end, ringing: 1) {}
  }

  // MARK: The day

  /// Everybody begins, and things begin to go wrong.
  func begin() {
    for host in hosts {
      host.live()
      spoil(host)
    }
    fade()
  }

  /// Repeatedly removes the controller or the power from a host.
  private func spoil(_ host: RandomHost) {
    course.after(60_000...1_200_000) { [self] in
      guard !isOver else { return }
      switch course.number(in: 1...4) {
      case 1:
        course.count("controllers unplugged")
        host.controller.isPlugged = false
        course.after(100...5000) { host.controller.isPlugged = true }
      case 2:
        course.count("controllers silent")
        host.controller.isSilent = true
        course.after(100...30_000) { host.controller.isSilent = false }
      default:
        course.count("switched off")
        host.adapter.setPower(false) { _ in }
        course.after(10...20_000) { host.adapter.setPower(true) { _ in } }
      }
      spoil(host)
    }
  }

  /// A link is out of reach, again and again.
  private func fade() {
    course.after(20_000...300_000) { [self] in
      guard !isOver else { return }
      if let link = course.any(of: course.air.links) {
        let controllers = link.ends.map(\.controller)
        setLoss(1, controllers)
        course.after(1000...30_000) { [self] in setLoss(0, controllers) }
      }
      fade()
    }
  }

  private func setLoss(_ probability: Double, _ pair: [VirtualController]) {
    course.air.setLoss(probability, from: pair[0], to: pair[1])
    course.air.setLoss(probability, from: pair[1], to: pair[0])
  }

  /// No action begins for two minutes: all sent packets have arrived then.
  func rest() {
    for host in hosts { host.isQuiet = true }
    for _ in 0..<12 {
      for conversation in hosts.flatMap(\.conversations) { conversation.listen() }
      walk(.seconds(10))
    }
    if course.faults.isEmpty { inspect() }
    for host in hosts { host.isQuiet = false }
  }

  private func inspect() {
    for link in course.air.links where link.ends.allSatisfy({ !$0.isOver }) {
      let sides = link.ends.map { end in
        hosts.first { $0.controller === end.controller }?.conversations.first {
          ($0.link as? HostLink)?.handle == end.handle
        }
      }
      guard let one = sides[0], let other = sides[1] else { continue }
      if one.isBusy || other.isBusy { course.fault("a link has had no room for two minutes") }
      if one.exchange.sent != other.exchange.heard || one.exchange.heard != other.exchange.sent {
        course.fault("\(one.exchange) meets \(other.exchange)")
      }
      compare(one, other)
      course.count("links compared")
    }
  }

  private func compare(_ one: Conversation, _ other: Conversation) {
    for talk in one.talks {
      guard let channel = talk.channel as? HostChannel,
        let mate = other.talks.first(where: { ($0.channel as? HostChannel)?.remote == channel.number })
      else {
        course.fault("a channel has no other end")
        continue
      }
      if talk.exchange.sent != mate.exchange.heard || talk.exchange.heard != mate.exchange.sent {
        course.fault("a channel: \(talk.exchange) meets \(mate.exchange)")
      }
    }
  }

  /// All leave. Anything that remains would remain for ever.
  func end() {
    isOver = true
    for host in hosts {
      host.leave()
      host.adapter.setPower(true) { _ in }
    }
    walk(.seconds(600))
    for host in hosts {
      let (links, calls) = (host.conversations.count + host.undead, host.open)
      if links + calls > 0 { course.fault("host \(host.number) keeps \(links) links and owes \(calls) answers") }
      if host.adapter.state != .on { course.fault("the adapter of host \(host.number) is \(host.adapter.state)") }
    }
    if !course.air.links.isEmpty { course.fault("controllers keep \(course.air.links.count) links") }
    var stopped = 0
    for host in hosts { host.adapter.stop { stopped += 1 } }
    walk(.seconds(10))
    if stopped != hosts.count { course.fault("\(stopped) adapters have stopped") }
  }
}
