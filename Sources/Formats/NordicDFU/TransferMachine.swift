import Bluetooth

/// Brings an image to a boot loader: its init packet as one object, then the firmware in objects that the boot loader
/// checks and takes one by one (nRF5 SDK 17.1, DFU Protocol). After a lost link it continues behind the octets that the
/// boot loader has, if their checksum is right.
///
/// | State      | Input                                   | Next       | Actions                                   |
/// |------------|-----------------------------------------|------------|-------------------------------------------|
/// | `waiting`  | link up                                 | `asking`   | no receipts; select the init packet       |
/// | `asking`   | an init packet was received, or a part  | as below   | execute, or the rest of its packets       |
/// | `asking`   | an object is created                    | `sending`  | its packets, as far as receipts allow     |
/// | `sending`  | a receipt with the right checksum       | `sending`  | more packets; behind the last: checksum   |
/// | `sending`  | no receipt in 5 s                       | `asking`   | checksum                                  |
/// | `asking`   | the right checksum of all of the object | `asking`   | execute                                   |
/// | `asking`   | a shorter one with the right checksum   | `asking`   | checksum, for it may be a receipt         |
/// | any        | a wrong checksum                        | `asking`   | the object from its beginning             |
/// | `asking`   | an object of the firmware is not taken  | `asking`   | the object from its beginning             |
/// | `asking`   | one begun by another run is refused     | `asking`   | the init packet                           |
/// | `asking`   | executed                                | `asking`   | the next object, or `finished`            |
/// | `asking`   | refused; no answer in 10 s; 3 failures in a row | `failed` | none                                |
/// | others     | link lost                               | `waiting`  | none                                      |
public struct TransferMachine: Sendable {
  /// An octet string to write.
  public enum Action: Hashable, Sendable {
    /// To the control point, with a response.
    case request(DFURequest)
    /// To the packet characteristic, without a response.
    case packet([UInt8])
  }

  /// The state.
  public enum State: Hashable, Sendable {
    case waiting
    /// A request waits for its answer.
    case asking(DFURequest)
    /// Packets are on the way.
    case sending
    case finished
    case failed(Failure)
  }

  /// The reason why a transfer failed.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The boot loader refused the init packet.
    case packetRefused(DFURefusal)
    /// The boot loader refused the firmware, or another request.
    case refused(DFURefusal)
    /// The init packet is longer than the boot loader allows.
    case packetTooLong(Int, maximum: Int)
    /// An answer makes no sense.
    case invalidAnswer
    /// The checksum is wrong again and again.
    case damaged
    /// No answer.
    case noAnswer

    /// The reason in words.
    public var description: String {
      switch self {
      case .packetRefused(let refusal): "the boot loader refused the init packet: \(refusal)"
      case .refused(let refusal): "the boot loader refused the firmware: \(refusal)"
      case .packetTooLong(let length, let maximum):
        "the init packet has \(length) octets, and the boot loader accepts \(maximum)"
      case .invalidAnswer: "an answer of the boot loader makes no sense"
      case .damaged: "the boot loader received the firmware damaged, three times in a row"
      case .noAnswer: "the boot loader does not answer"
      }
    }
  }

  /// The number of packets between two receipts.
  static let window = 12
  static let timeout = Duration.seconds(10)
  static let receiptTimeout = Duration.seconds(5)
  /// The boot loader checks all of the firmware behind its last object.
  static let lastTimeout = Duration.seconds(60)
  private static let mostFailures = 3

  /// The state.
  public private(set) var state = State.waiting
  /// The octets of the firmware that the boot loader has, as far as it has said so.
  public private(set) var offset = 0
  /// True if the link was lost while the boot loader checked all of the firmware: it may have restarted with it.
  public private(set) var mayBeFinished = false

  private let image: DFUPackage.Image
  /// The kind of the object, and its octets within all octets of its kind.
  private var object = DFUObject.command
  private var range = 0..<0
  /// The end of the packets sent.
  private var next = 0
  /// The place and the checksum that a receipt has confirmed.
  private var confirmed = (place: 0, checksum: CRC32())
  /// Packets since the last receipt.
  private var unconfirmed = 0
  private var maximum = 0
  private var packet = 20
  private var failures = 0
  /// The reason why the object was not executed.
  private var refusal: DFURefusal?
  /// The object was begun before this link.
  private var isResumed = false
  /// Answers shorter than the object.
  private var shortAnswers = 0
  private var last = Instant.zero

  /// Prepares a transfer.
  public init(_ image: DFUPackage.Image) { self.image = image }

  /// True if there is nothing more to do.
  public var hasEnded: Bool {
    switch state {
    case .waiting, .asking, .sending: false
    case .finished, .failed: true
    }
  }

  /// True if the boot loader has confirmed `offset` over this link; false while it receives the init packet.
  public var knowsOffset: Bool {
    switch state {
    case .waiting, .asking(.setReceipts), .asking(.select): false
    case .asking, .sending, .finished, .failed: object == .data
    }
  }

  /// When `timePassed` is to be called; nil if nothing is awaited.
  public var deadline: Instant? {
    switch state {
    case .sending: last.advanced(by: Self.receiptTimeout)
    case .asking(.execute) where isLast: last.advanced(by: Self.lastTimeout)
    case .asking: last.advanced(by: Self.timeout)
    case .waiting, .finished, .failed: nil
    }
  }

  /// There is a link to the boot loader.
  /// - Parameter packet: Octets of a packet.
  public mutating func linkIsUp(packet: Int, now: Instant) -> [Action] {
    guard !hasEnded else { return [] }
    // Flash is written in words.
    self.packet = max(packet & ~3, 20)
    (failures, mayBeFinished) = (0, false)
    turn(to: .command)
    return ask(.setReceipts(0), now)
  }

  /// The actions are done: the time for the answer begins.
  public mutating func sent(now: Instant) { last = now }

  /// The link was lost.
  public mutating func linkIsLost() {
    guard !hasEnded else { return }
    if case .asking(.execute) = state, isLast { mayBeFinished = true }
    state = .waiting
  }

  /// A notification of the control point has arrived.
  public mutating func received(_ octets: [UInt8], now: Instant) -> [Action] {
    guard let response = DFUResponse(octets) else {
      // An answer without its values, if any.
      guard case .asking(let request) = state, octets.starts(with: [DFURequest.responseCode, request.code]) else {
        return []
      }
      return fail(.invalidAnswer)
    }
    switch state {
    case .sending:
      guard response.code == DFURequest.checksum.code else { return [] }
      let place = confirmed.place
      guard let receipt = response.receipt, confirm(receipt) else { return repeatObject(.damaged, now) }
      if confirmed.place > place { last = now }
      return fill(now)
    case .asking(let request) where response.code == request.code:
      if let refusal = response.refusal { return refused(request, refusal, now) }
      return answered(request, response, now)
    case .asking, .waiting, .finished, .failed: return []
    }
  }

  /// The deadline has passed.
  public mutating func timePassed(now: Instant) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    if state == .sending { return ask(.checksum, now) }
    return fail(.noAnswer)
  }

  // MARK: - Answers

  private mutating func answered(_ request: DFURequest, _ response: DFUResponse, _ now: Instant) -> [Action] {
    switch request {
    case .setReceipts: return ask(.select(object), now)
    case .select:
      guard let maximum = response.maximum, maximum > 0, let receipt = response.receipt else {
        return fail(.invalidAnswer)
      }
      self.maximum = maximum
      return object == .command ? packetSelected(receipt, now) : firmwareSelected(receipt, now)
    case .create:
      refusal = nil
      return send(from: range.lowerBound, now)
    case .checksum:
      guard let receipt = response.receipt else { return fail(.invalidAnswer) }
      return checked(receipt, now)
    case .execute: return executed(now)
    }
  }

  private mutating func packetSelected(_ receipt: DFUResponse.Receipt, _ now: Instant) -> [Action] {
    guard octets.count <= maximum else { return fail(.packetTooLong(octets.count, maximum: maximum)) }
    range = octets.indices
    guard receipt.offset > 0, matches(receipt) else { return begin(now) }
    isResumed = true
    return receipt.offset == octets.count ? ask(.execute, now) : send(from: receipt.offset, now)
  }

  private mutating func firmwareSelected(_ receipt: DFUResponse.Receipt, _ now: Instant) -> [Action] {
    guard receipt.offset > 0 else { return beginObject(at: 0, now) }
    isResumed = true
    guard matches(receipt) else {
      // The object that is not complete may be damaged; its predecessors were checked.
      let whole = min(receipt.offset, octets.count) - 1
      return beginObject(at: whole - whole % maximum, now)
    }
    offset = receipt.offset
    let start = (receipt.offset - 1) / maximum * maximum
    range = start..<min(start + maximum, octets.count)
    return receipt.offset == range.upperBound ? ask(.execute, now) : send(from: receipt.offset, now)
  }

  private mutating func checked(_ receipt: DFUResponse.Receipt, _ now: Instant) -> [Action] {
    if receipt.offset == range.upperBound, matches(receipt) {
      if object == .data { offset = receipt.offset }
      return ask(.execute, now)
    }
    // No receipt has come, but all packets have arrived.
    if next < range.upperBound, receipt.offset == next, confirm(receipt) {
      (state, last) = (.sending, now)
      return fill(now)
    }
    // An init packet that is sent again may have receipts, too.
    let most = object == .command ? range.count / packet / Self.window + 2 : 1
    guard shortAnswers < most, receipt.offset < range.upperBound, matches(receipt) else {
      return repeatObject(.damaged, now)
    }
    shortAnswers += 1
    return ask(.checksum, now)
  }

  private mutating func executed(_ now: Instant) -> [Action] {
    isResumed = false
    if object == .command {
      turn(to: .data)
      return ask(.setReceipts(Self.window), now)
    }
    (failures, offset) = (0, range.upperBound)
    guard !isLast else {
      state = .finished
      return []
    }
    return beginObject(at: range.upperBound, now)
  }

  private mutating func refused(_ request: DFURequest, _ refusal: DFURefusal, _ now: Instant) -> [Action] {
    // A boot loader that lacks receipts sends none.
    if case .setReceipts = request { return ask(.select(object), now) }
    guard object == .data else { return fail(.packetRefused(refusal)) }
    switch request {
    // The object was taken before the link was lost.
    case .execute where isResumed && refusal == .notPermitted: return executed(now)
    case .execute where refusal.code != DFURefusal.extended:
      self.refusal = refusal
      return repeatObject(.refused(refusal), now)
    case .create where isResumed: return repeatObject(.refused(refusal), now)
    // The boot loader may have dropped all of the firmware with the last object.
    default: return fail(.refused(self.refusal ?? refusal))
    }
  }

  // MARK: - Objects

  private var octets: [UInt8] { object == .command ? image.packet : image.firmware }
  /// True if the firmware ends with this object.
  private var isLast: Bool { object == .data && range.upperBound == image.firmware.count }

  private mutating func turn(to object: DFUObject) {
    (self.object, confirmed) = (object, (0, CRC32()))
  }

  private mutating func ask(_ request: DFURequest, _ now: Instant) -> [Action] {
    (state, last) = (.asking(request), now)
    return [.request(request)]
  }

  private mutating func fail(_ failure: Failure) -> [Action] {
    state = .failed(failure)
    return []
  }

  private mutating func beginObject(at start: Int, _ now: Instant) -> [Action] {
    range = start..<min(start + maximum, octets.count)
    offset = start
    return begin(now)
  }

  private mutating func begin(_ now: Instant) -> [Action] { ask(.create(object, length: range.count), now) }

  /// Sends the object again; one that another run began from the init packet on, for its predecessors may be damaged.
  private mutating func repeatObject(_ failure: Failure, _ now: Instant) -> [Action] {
    failures += 1
    guard failures < Self.mostFailures else { return fail(failure) }
    if isResumed, object == .data {
      (isResumed, offset) = (false, 0)
      turn(to: .command)
      range = octets.indices
      return begin(now)
    }
    if object == .data { offset = range.lowerBound }
    return begin(now)
  }

  private mutating func send(from place: Int, _ now: Instant) -> [Action] {
    (state, last, next) = (.sending, now, place)
    (unconfirmed, shortAnswers, confirmed) = (0, 0, (place, checksum(to: place)))
    return fill(now)
  }

  /// The packets that may leave, and behind the last one the request for the checksum.
  private mutating func fill(_ now: Instant) -> [Action] {
    var actions: [Action] = []
    while next < range.upperBound, object == .command || unconfirmed < Self.window {
      let end = min(next + packet, range.upperBound)
      actions.append(.packet(Array(octets[next..<end])))
      (next, unconfirmed) = (end, unconfirmed + 1)
    }
    return next == range.upperBound ? actions + ask(.checksum, now) : actions
  }

  // MARK: - Checksums

  /// - Returns: False for a checksum that is wrong, or of octets that were not sent.
  private mutating func confirm(_ receipt: DFUResponse.Receipt) -> Bool {
    guard receipt.offset >= confirmed.place, receipt.offset <= next, matches(receipt) else { return false }
    confirmed = (receipt.offset, checksum(to: receipt.offset))
    if object == .data { offset = receipt.offset }
    unconfirmed = (next - receipt.offset + packet - 1) / packet
    return true
  }

  private func matches(_ receipt: DFUResponse.Receipt) -> Bool {
    receipt.offset <= octets.count && checksum(to: receipt.offset).value == receipt.checksum
  }

  /// The checksum of the octets before a place.
  private func checksum(to place: Int) -> CRC32 {
    let isBehind = place >= confirmed.place
    var checksum = isBehind ? confirmed.checksum : CRC32()
    checksum.add(octets[(isBehind ? confirmed.place : 0)..<place])
    return checksum
  }
}
