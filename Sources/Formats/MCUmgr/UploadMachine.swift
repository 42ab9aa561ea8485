import Bluetooth

/// Brings a file to a device, part by part, with several parts on the way as far as the device has buffers. The device
/// decides at which offset it continues: after a lost packet, a lost answer and a lost link.
///
/// | State        | Input                                    | Next        | Actions                                  |
/// |--------------|------------------------------------------|-------------|------------------------------------------|
/// | `waiting`    | link up                                  | `beginning` | the part at 0, with length and hash      |
/// | `beginning`  | the device's offset                      | `sending`   | parts from there on                      |
/// | `beginning`  | no answer in 30 s                        | `beginning` | the part again, as short as a packet     |
/// | `beginning`  | "corrupt", to more than a packet         | `beginning` | the part again, as short as a packet     |
/// | `sending`    | the expected offset                      | `sending`   | more parts; the window grows by one      |
/// | `sending`    | another offset                           | `sending`   | parts from there on; half the window     |
/// | `sending`    | no answer in 5 s                         | `sending`   | parts from the last offset on; half the window |
/// | `sending`    | offset 0, to the last part, repeated without an answer | `finished` | none                 |
/// | `sending`    | offset 0                                 | `beginning` | the part at 0: the device has restarted  |
/// | any          | the offset of the end                    | `finished`  | none                                     |
/// | any          | an error, an impossible offset, 7 failures without progress | `failed` | none                     |
/// | others    | link lost                            | `waiting`   | none                                     |
public struct UploadMachine: Sendable {
  /// The state.
  public enum State: Hashable, Sendable {
    case waiting
    case beginning
    case sending
    case finished
    case failed(Failure)
  }

  /// The reason why an upload failed.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The device answered with an error.
    case refused(ManagementError)
    /// The device names an offset that the file does not have, or none.
    case invalidOffset(Int?)
    /// The device has all octets, and their hash is another one.
    case hashDiffers
    /// No answers, or no progress.
    case noProgress

    /// The reason in words.
    public var description: String {
      switch self {
      case .refused(let error): "the device refused the image: \(error)"
      case .invalidOffset(let offset?): "the device continues at \(offset), behind the end of the file"
      case .invalidOffset(nil): "the device does not say how far it is"
      case .hashDiffers: "the device received the file damaged: its hash differs"
      case .noProgress: "the device does not answer, or does not get on"
      }
    }
  }

  /// A frame that waits for its answer.
  private struct Sent {
    let sequence: UInt8
    /// The offset behind its octets.
    let end: Int
  }

  /// The device may erase its slot before the first answer.
  static let firstTimeout = Duration.seconds(30)
  static let timeout = Duration.seconds(5)
  private static let mostFailures = 6
  private static let widest = 16
  /// The possible lengths of a frame in octets.
  private static let lengths = 64...16384
  /// The first part has the image's header, which devices examine.
  private static let shortestBeginning = 32

  /// The state.
  public private(set) var state = State.waiting
  /// The octets that the device has, as far as it has said so.
  public private(set) var offset = 0
  /// How many parts may be on the way.
  public private(set) var window = 1

  private let octets: [UInt8]
  private let beginning: UploadPart.Beginning
  /// The offset of the next part.
  private var next = 0
  private var sent: [Sent] = []
  /// The time of the last frame, or of the last answer.
  private var last = Instant.zero
  /// Failures since the device was as far as `furthest`.
  private var failures = 0
  /// The furthest offset over this link: a device that goes back, and gets there again, makes no progress.
  private var furthest = 0
  /// The last part is repeated, and no answer has arrived since: the device may have forgotten the upload.
  private var repeatsLast = false
  private var sequence: UInt8
  private var limit = 1
  private var packet = 20
  private var longest = 20
  /// The device does not join the parts of a frame.
  private var isShort = false

  /// Prepares an upload.
  /// - Parameters:
  ///   - octets: The file.
  ///   - hash: Its SHA-256 hash.
  ///   - image: The number of the image, 0 on a device with one processor.
  ///   - sequence: The number of the first request.
  public init(_ octets: [UInt8], hash: [UInt8], image: Int = 0, sequence: UInt8 = 0) {
    self.octets = octets
    self.sequence = sequence
    beginning = UploadPart.Beginning(image: image, length: octets.count, hash: hash)
  }

  /// True if there is nothing more to do.
  public var hasEnded: Bool {
    switch state {
    case .waiting, .beginning, .sending: false
    case .finished, .failed: true
    }
  }

  /// When `timePassed` is to be called; nil if nothing is awaited.
  public var deadline: Instant? {
    switch state {
    case .beginning: last.advanced(by: Self.firstTimeout)
    case .sending: last.advanced(by: Self.timeout)
    case .waiting, .finished, .failed: nil
    }
  }

  /// There is a link.
  /// - Parameters:
  ///   - packet: Octets of a packet: those of a longer frame are divided.
  ///   - parameters: The device's buffers, if it says.
  /// - Returns: The frames to send.
  public mutating func linkIsUp(
    packet: Int, parameters: ManagementParameters?, now: Instant
  ) -> [ManagementFrame] {
    guard !hasEnded else { return [] }
    (self.packet, failures, furthest) = (packet, 0, 0)
    let length = isShort ? packet : parameters?.bufferSize ?? packet
    longest = min(max(length, Self.lengths.lowerBound), Self.lengths.upperBound)
    // A device needs a buffer for its answer.
    limit = min(max((parameters?.bufferCount ?? 1) - 1, 1), Self.widest)
    window = 1
    return begin(now)
  }

  /// The frames have left: the time for their answers begins.
  public mutating func sent(now: Instant) { last = now }

  /// The link was lost, and all that was on its way.
  public mutating func linkIsLost() {
    guard !hasEnded else { return }
    state = .waiting
    sent = []
  }

  /// A frame has arrived; frames besides the awaited answers are ignored.
  /// - Returns: The frames to send.
  public mutating func received(_ frame: ManagementFrame, now: Instant) -> [ManagementFrame] {
    let command = ManagementRequest.upload(.init(offset: 0, data: [])).command
    guard !hasEnded, frame.operation.response == nil, frame.group == command.group.rawValue,
      frame.command == command.number, let index = sent.firstIndex(where: { $0.sequence == frame.sequence })
    else { return [] }
    if let error = ManagementError(frame) {
      // A device without memory, or busy, has more after a while: the part is repeated when its time is over.
      guard !error.passes else {
        sent.remove(at: index)
        return []
      }
      if state == .beginning, error.isCorrupt, longest > max(packet, Self.lengths.lowerBound) {
        return retry(now) { $0.beginShort($1) }
      }
      return fail(.refused(error))
    }
    guard let reported = frame.payload["off"]?.integer, reported <= octets.count else {
      return fail(.invalidOffset(frame.payload["off"]?.integer))
    }
    let answered = sent[index]
    last = now
    sent.removeFirst(index + 1)
    if reported == octets.count {
      (offset, sent) = (reported, [])
      if frame.payload["match"]?.isTrue == false { return fail(.hashDiffers) }
      state = .finished
      return []
    }
    defer { repeatsLast = false }
    return state == .beginning ? begun(at: reported, now) : continued(at: reported, answered, now)
  }

  /// The deadline has passed.
  /// - Returns: The frames to send.
  public mutating func timePassed(now: Instant) -> [ManagementFrame] {
    guard let deadline, deadline <= now else { return [] }
    if state == .beginning { return retry(now) { $0.beginShort($1) } }
    repeatsLast = sent.last?.end == octets.count
    return retry(now) { $0.rewind(to: $0.offset, $1) }
  }

  // MARK: - Steps

  private mutating func begun(at reported: Int, _ now: Instant) -> [ManagementFrame] {
    guard reported > 0 else { return retry(now) { $0.begin($1) } }
    (state, offset, next) = (.sending, reported, reported)
    advance(to: reported)
    return fill(now)
  }

  private mutating func continued(at reported: Int, _ answered: Sent, _ now: Instant) -> [ManagementFrame] {
    if reported == answered.end {
      (offset, window) = (reported, min(window + 1, limit))
      advance(to: reported)
      return fill(now)
    }
    guard reported > 0 else {
      // A device that has all of the file forgets the upload: its last answer was lost.
      if answered.end == octets.count, sent.isEmpty, offset > 0, repeatsLast {
        (state, offset) = (.finished, octets.count)
        return []
      }
      offset = 0
      return retry(now) { $0.begin($1) }
    }
    if reported > offset {
      advance(to: reported)
      return rewind(to: reported, now)
    }
    return retry(now) { $0.rewind(to: reported, $1) }
  }

  private mutating func advance(to reported: Int) {
    if reported > furthest { (furthest, failures) = (reported, 0) }
  }

  private mutating func begin(_ now: Instant) -> [ManagementFrame] {
    (state, sent, next) = (.beginning, [], 0)
    return [send(now)]
  }

  /// Some devices do not join the parts of a frame: they are silent, or see a corrupt one.
  private mutating func beginShort(_ now: Instant) -> [ManagementFrame] {
    isShort = true
    longest = min(longest, max(packet, Self.lengths.lowerBound))
    return begin(now)
  }

  /// Sends from an offset on; answers to earlier parts are ignored.
  private mutating func rewind(to place: Int, _ now: Instant) -> [ManagementFrame] {
    (sent, offset, next, window) = ([], place, place, max(window / 2, 1))
    return fill(now)
  }

  private mutating func retry(
    _ now: Instant, _ step: (inout UploadMachine, Instant) -> [ManagementFrame]
  ) -> [ManagementFrame] {
    failures += 1
    guard failures <= Self.mostFailures else { return fail(.noProgress) }
    return step(&self, now)
  }

  private mutating func fail(_ failure: Failure) -> [ManagementFrame] {
    (state, sent) = (.failed(failure), [])
    return []
  }

  private mutating func fill(_ now: Instant) -> [ManagementFrame] {
    var frames: [ManagementFrame] = []
    while sent.count < window, next < octets.count { frames.append(send(now)) }
    return frames
  }

  /// The part at `next`, which it moves.
  private mutating func send(_ now: Instant) -> ManagementFrame {
    let isFirst = next == 0
    var part = UploadPart(offset: next, data: [], beginning: isFirst ? beginning : nil)
    // Two more octets: the length of the data in CBOR.
    let frame = ManagementRequest.upload(part).frame(sequence: 0).encoded.count + 2
    // Flash is written in words.
    let room = max((longest - frame) & ~3, isFirst ? Self.shortestBeginning : 4)
    let end = min(next + room, octets.count)
    part.data = Array(octets[next..<end])
    next = end
    defer { sequence &+= 1 }
    sent.append(Sent(sequence: sequence, end: end))
    last = now
    return ManagementRequest.upload(part).frame(sequence: sequence)
  }
}

extension ManagementError {
  /// True if the reason may go by itself.
  fileprivate var passes: Bool { group == nil && (code == 2 || code == 10) }

  /// True if the device could not read the request.
  fileprivate var isCorrupt: Bool { group == nil && code == 9 }
}
