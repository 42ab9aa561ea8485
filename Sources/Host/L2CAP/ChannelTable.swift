import Bluetooth

/// One end of a channel, as it is told to the other (Core 5.4, Vol 3, Part A, 4.22 and 4.23).
package struct ChannelEnd: Hashable, Sendable {
  /// Its number (CID).
  package var number: UInt16
  /// The longest packet that it takes, in octets.
  package var packet: UInt16
  /// The longest piece that it takes, in octets.
  package var piece: UInt16
  /// The pieces that it takes at first.
  package var credits: UInt16

  package init(number: UInt16, packet: UInt16, piece: UInt16, credits: UInt16) {
    self.number = number
    self.packet = packet
    self.piece = piece
    self.credits = credits
  }

  /// Whether the specification allows its sizes.
  var hasSizes: Bool { packet >= 23 && 23...65_533 ~= piece }
  /// Whether the number is one of LE's dynamic ones (2.1).
  var hasNumber: Bool { ChannelTable.numbers.contains(number) }
}

/// Our answer to a device's request for a channel.
package enum ChannelOffer: Hashable, Sendable {
  /// Granted, with these sizes and credits; the number does not count.
  case granted(ChannelEnd)
  /// Refused with this result (4.23, table 4.16).
  case refused(UInt16)
}

/// The numbers of the channels of one link.
///
/// | Number  | Input                             | Outcome                                        |
/// |---------|-----------------------------------|------------------------------------------------|
/// | free    | `ask`                             | asked                                          |
/// | free    | a device's request that is granted| open                                           |
/// | asked   | the device's response             | open: `opened`; or free: `refused`             |
/// | asked   | a reject, 30 s without an answer  | free: `refused`                                |
/// | open    | `close`                           | closing                                        |
/// | open    | the device's request to close it  | free: `closed`                                 |
/// | closing | the response to the same ends     | free                                           |
/// | closing | the device's request to close it  | free: the requests have crossed                |
/// | closing | a reject, 30 s                    | free                                           |
struct ChannelTable {
  fileprivate enum State {
    case asked(UInt8, until: Instant)
    case open(UInt16)
    case closing(UInt16, UInt8, until: Instant)
  }

  /// LE's numbers for channels (2.1, table 2.3).
  static let numbers: ClosedRange<UInt16> = 0x0040...0x007F

  private var states: [UInt16: State] = [:]

  /// When `expire` is due.
  var deadline: Instant? {
    states.values.compactMap { state in
      switch state {
      case .asked(_, let until), .closing(_, _, let until): until
      case .open: nil
      }
    }.min()
  }

  /// A number that no channel has.
  var free: UInt16? { Self.numbers.first { states[$0] == nil } }

  /// Whether a request with this identifier waits.
  func isWaiting(_ identifier: UInt8) -> Bool { states.values.contains { $0.identifier == identifier } }

  /// The device's number of an open channel.
  func remote(of number: UInt16) -> UInt16? { if case .open(let remote) = states[number] { remote } else { nil } }

  /// The device's number of a channel that is being closed.
  func closingRemote(of number: UInt16) -> UInt16? {
    if case .closing(let remote, _, _) = states[number] { remote } else { nil }
  }

  /// The open channel that has this number at the device.
  func local(of remote: UInt16) -> UInt16? {
    states.first { if case .open(remote) = $0.value { true } else { false } }?.key
  }

  /// Whether the device has this number in use.
  func isUsed(_ remote: UInt16) -> Bool {
    states.values.contains { state in
      switch state {
      case .open(let other), .closing(let other, _, _): other == remote
      case .asked: false
      }
    }
  }

  mutating func ask(_ number: UInt16, _ identifier: UInt8, until: Instant) {
    states[number] = .asked(identifier, until: until)
  }

  mutating func open(_ number: UInt16, _ remote: UInt16) { states[number] = .open(remote) }

  mutating func close(_ number: UInt16, _ identifier: UInt8, until: Instant) {
    guard let remote = remote(of: number) else { return }
    states[number] = .closing(remote, identifier, until: until)
  }

  mutating func free(_ number: UInt16) { states[number] = nil }

  /// The request for a channel with this identifier was answered.
  /// - Returns: the number that was asked for; nil if there was no such request.
  mutating func answered(_ identifier: UInt8) -> UInt16? {
    let number = states.first { if case .asked(identifier, _) = $0.value { true } else { false } }?.key
    if let number { states[number] = nil }
    return number
  }

  /// The request to close a channel was answered; one for other ends was not (4.7).
  mutating func closeAnswered(_ identifier: UInt8, local: UInt16, remote: UInt16) {
    if case .closing(remote, identifier, _) = states[local] { states[local] = nil }
  }

  /// The request with this identifier was rejected.
  /// - Returns: the number that was asked for, if it was one for a channel.
  mutating func rejected(_ identifier: UInt8) -> UInt16? {
    if let number = answered(identifier) { return number }
    if let number = states.first(where: { $0.value.identifier == identifier })?.key { states[number] = nil }
    return nil
  }

  /// The numbers that were asked for in vain until now.
  mutating func expire(at now: Instant) -> [UInt16] {
    let over = states.filter { state in
      switch state.value {
      case .asked(_, let until), .closing(_, _, let until): until <= now
      case .open: false
      }
    }
    for number in over.keys { states[number] = nil }
    return over.filter { if case .asked = $0.value { true } else { false } }.keys.sorted()
  }
}

extension ChannelTable.State {
  /// The identifier of the request that waits.
  fileprivate var identifier: UInt8? {
    switch self {
    case .asked(let identifier, _), .closing(_, let identifier, _): identifier
    case .open: nil
    }
  }
}
