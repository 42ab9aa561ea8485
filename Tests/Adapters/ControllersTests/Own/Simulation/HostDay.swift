import Adapter
import Bluetooth
import EventLoop
import HCI
import TestSupport

@testable import Controllers

/// Adapters with a host of our own, their controllers and the air between them, in one thread and under virtual time.
final class HostDay {
  let air: EmulatedAir
  let hosts: [RandomHost]
  private let loop: EventLoop
  private var isOver = false

  init(seed: UInt64) throws {
    loop = try EventLoop()
    air = EmulatedAir(VirtualScheduler(later: loop.execute), seed: seed)
    let rooms = [
      EmulatedController.Room(), EmulatedController.Room(length: 27, packets: 3, isSlowable: true),
      // A controller that does one thing at a time.
      EmulatedController.Room(length: 64, packets: 1, states: []),
    ]
    let (air, loop) = (air, loop)
    hosts = try rooms.enumerated().map { number, room in
      try RandomHost(
        number, EmulatedController(number, room, on: air), privacy: number == 1 ? .seconds(900) : nil, on: air, loop)
    }
    air.hosts = hosts
  }

  /// Advances the clock, and lets every party act.
  func walk(_ duration: Duration) throws {
    let end = air.scheduler.now.advanced(by: duration)
    repeat { try settle() } while air.faults.isEmpty && !air.scheduler.advance(to: end, ringing: 1)
    try settle()
  }

  private func settle() throws {
    var isBusy = true
    while isBusy {
      isBusy = try loop.poll()
      for host in hosts where try host.controller.work() { isBusy = true }
    }
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
    air.after(60_000...1_200_000) { [self] in
      guard !isOver else { return }
      switch air.number(in: 1...4) {
      case 1:
        air.count("controllers unplugged")
        host.controller.vanish(air.chance(50) ? air.noise(air.number(in: 1...300)) : [])
      case 2:
        air.count("controllers silent")
        host.controller.isSilent = true
        air.after(100...30_000) { host.controller.isSilent = false }
      default:
        air.count("switched off")
        host.adapter.setPower(false) { _ in }
        air.after(10...20_000) { host.adapter.setPower(true) { _ in } }
      }
      spoil(host)
    }
  }

  /// A link is out of reach, again and again.
  private func fade() {
    air.after(20_000...300_000) { [self] in
      guard !isOver else { return }
      air.any(of: air.links)?.fade()
      fade()
    }
  }

  /// No action begins for two minutes: all sent packets have arrived then.
  func rest() throws {
    for host in hosts { host.isQuiet = true }
    for _ in 0..<12 {
      for conversation in hosts.flatMap(\.conversations) { conversation.listen() }
      try walk(.seconds(10))
    }
    if air.faults.isEmpty { inspect() }
    for host in hosts { host.isQuiet = false }
  }

  private func inspect() {
    for link in air.links where link.ends.allSatisfy({ !$0.isOver && $0.controller.isReachable }) {
      let sides = link.ends.map { end in
        hosts.first { $0.controller === end.controller }?.conversations.first {
          ($0.link as? HostLink)?.handle == end.handle
        }
      }
      guard let one = sides[0], let other = sides[1] else { continue }
      if one.isBusy || other.isBusy { air.fault("a link has had no room for two minutes") }
      if one.exchange.sent != other.exchange.heard || one.exchange.heard != other.exchange.sent {
        air.fault("\(one.exchange) meets \(other.exchange)")
      }
      compare(one, other)
      air.count("links compared")
    }
  }

  private func compare(_ one: Conversation, _ other: Conversation) {
    for talk in one.talks {
      guard let channel = talk.channel as? HostChannel,
        let mate = other.talks.first(where: { ($0.channel as? HostChannel)?.remote == channel.number })
      else {
        air.fault("a channel has no other end")
        continue
      }
      if talk.exchange.sent != mate.exchange.heard || talk.exchange.heard != mate.exchange.sent {
        air.fault("a channel: \(talk.exchange) meets \(mate.exchange)")
      }
    }
  }

  /// All leave. Anything that remains would remain for ever.
  func end() throws {
    isOver = true
    for host in hosts {
      host.leave()
      host.adapter.setPower(true) { _ in }
    }
    try walk(.seconds(600))
    for host in hosts {
      let (links, calls) = (host.conversations.count + host.undead, host.open)
      if links + calls > 0 { air.fault("host \(host.number) keeps \(links) links and owes \(calls) answers") }
      if host.adapter.state != .on { air.fault("the adapter of host \(host.number) is \(host.adapter.state)") }
    }
    if !air.links.isEmpty { air.fault("controllers keep \(air.links.count) links") }
    var stopped = 0
    for host in hosts { host.adapter.stop { stopped += 1 } }
    try walk(.seconds(10))
    if stopped != hosts.count { air.fault("\(stopped) adapters have stopped") }
  }
}
