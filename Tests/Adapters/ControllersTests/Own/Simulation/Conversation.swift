import Adapter
import Bluetooth

/// The two directions of a link or a channel: numbered packets, with octets that follow from the number.
struct Exchange {
  private(set) var sent: UInt32 = 0
  private(set) var heard: UInt32 = 0

  /// The next packet.
  mutating func next(_ size: Int) -> [UInt8] {
    defer { sent += 1 }
    return Self.packet(sent, size)
  }

  /// - Returns: true if it is the next one.
  mutating func hear(_ packet: [UInt8]) -> Bool {
    defer { heard += 1 }
    return packet == Self.packet(heard, packet.count)
  }

  private static func packet(_ number: UInt32, _ size: Int) -> [UInt8] {
    let start = Int(number % 251)
    return (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } + filler[start..<start + size - 4]
  }

  private static let filler: [UInt8] = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 / 7) }
}

/// A link in the hands of a random user, with its channels.
final class Conversation {
  /// A channel of the link.
  final class Talk {
    let channel: any Channel
    var exchange = Exchange()
    /// The number of packets still to send.
    var burst = 0
    var isOver = false
    init(_ channel: any Channel) { self.channel = channel }
  }

  let link: any Link
  private(set) var exchange = Exchange()
  private(set) var talks: [Talk] = []
  private(set) var isOver = false
  private unowned let user: RandomHost
  private var burst = 0
  /// Calls without an outcome yet.
  private(set) var open = 0

  init(_ link: any Link, _ user: RandomHost) {
    self.link = link
    self.user = user
    link.onEvent = { [unowned self] event in hear(event) }
  }

  private func hear(_ event: LinkEvent) {
    if isOver { user.course.fault("host \(user.number) is told of a link that is over: \(event)") }
    switch event {
    case .received(let packet):
      if !exchange.hear(packet) {
        user.course.fault("host \(user.number) hears \(packet.count) octets in place of packet \(exchange.heard - 1)")
      }
      user.course.count(link.isReading ? "packets heard" : "packets heard though not read")
    case .lost(let count): user.course.fault("host \(user.number) lost \(count) packets")
    case .writable: proceed()
    case .channel(let channel): add(channel)
    case .ended:
      isOver = true
      user.forget(self)
    case .securityChanged: user.course.count("encryptions")
    case .parametersChanged: break
    }
  }

  // MARK: The user's actions

  func send(_ count: Int) {
    burst += count
    proceed()
  }

  private func proceed() {
    while burst > 0, !isOver, link.isWritable {
      burst -= 1
      link.send(exchange.next(user.course.number(in: 5...512)))
    }
  }

  func raise() { call("raise") { link.raiseSecurity(to: 2, as: .none, usesOwnData: false, $0) } }
  func readRSSI() {
    call("signal strength") { done in
      link.readRSSI { done($0.error) }
    }
  }

  func request(_ interval: Duration) {
    call("parameters") { link.request(ConnectionParameters(interval: interval...interval), $0) }
  }

  func openChannel(_ mode: ChannelMode) {
    call("channel") { done in
      link.openChannel(to: 0x80, ChannelParameters(receiveMTU: user.course.number(in: 64...2000), mode: mode)) {
        [weak self] in
        if case .success(let channel) = $0 { self?.add(channel) }
        done($0.error)
      }
    }
  }

  /// Calls something that has one outcome, also after the link's end.
  private func call(_ subject: String, _ begin: (@escaping (BluetoothError?) -> Void) -> Void) {
    open += 1
    user.open += 1
    var isDone = false
    let (user, course) = (user, user.course)
    begin { [weak self] error in
      if isDone { course.fault("\(subject) has two outcomes") }
      isDone = true
      user.open -= 1
      self?.open -= 1
      course.count(error.map { "\(subject): \($0.domain) \($0.name)" } ?? "\(subject): done")
    }
  }

  // MARK: Channels

  private func add(_ channel: any Channel) {
    let talk = Talk(channel)
    talks.append(talk)
    user.course.count("channels")
    channel.onEvent = { [unowned self, unowned talk] event in hear(event, on: talk) }
    channel.isReading = true
  }

  private func hear(_ event: ChannelEvent, on talk: Talk) {
    if talk.isOver { user.course.fault("host \(user.number) is told of a channel that is over") }
    switch event {
    case .received(let packet):
      if !talk.exchange.hear(packet) { user.course.fault("host \(user.number) hears another packet on a channel") }
      user.course.count("packets of channels heard")
    case .writable: proceed(talk)
    case .ended:
      talk.isOver = true
      talks.removeAll { $0 === talk }
    }
  }

  func send(_ count: Int, on talk: Talk) {
    talk.burst += count
    proceed(talk)
  }

  private func proceed(_ talk: Talk) {
    while talk.burst > 0, !talk.isOver, talk.channel.isWritable {
      talk.burst -= 1
      talk.channel.send(talk.exchange.next(min(talk.channel.sendMTU, user.course.number(in: 5...2000))))
    }
  }

  func close(_ talk: Talk) {
    talk.isOver = true
    talks.removeAll { $0 === talk }
    talk.channel.onEvent = nil
    talk.channel.close()
  }

  /// Everything is read from now on.
  func listen() {
    link.isReading = true
    for talk in talks { talk.channel.isReading = true }
  }

  /// True if something is still to be sent.
  var isBusy: Bool { burst > 0 || talks.contains { $0.burst > 0 } }
}

extension Result where Failure == BluetoothError {
  fileprivate var error: BluetoothError? { if case .failure(let error) = self { error } else { nil } }
}
