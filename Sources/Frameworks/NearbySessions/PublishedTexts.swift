/// The texts of this side's description.
///
/// | Input        | Effect                                                                            |
/// |--------------|-----------------------------------------------------------------------------------|
/// | begin(call)  | it waits for its turn                                                             |
/// | claim(call)  | at its turn, unless it was cancelled: its texts are to be set                     |
/// | settle       | these are the texts of the last call that was not cancelled                       |
/// | cancel(call) | it has no turn                                                                    |
/// | recall(call) | behind a cancelled call: the settled texts, if its own were set and are the last  |
struct PublishedTexts {
  private(set) var information: [String: String]
  private(set) var revision: UInt8 = .random(in: 0...255)
  private var settled: [String: String]
  private var waiting: Set<Int> = []
  private var lastClaim: Int?

  init(_ information: [String: String]) { (self.information, settled) = (information, information) }

  mutating func begin(_ call: Int) { waiting.insert(call) }

  mutating func claim(_ call: Int) -> Bool {
    guard waiting.remove(call) != nil else { return false }
    lastClaim = call
    return true
  }

  mutating func settle(_ information: [String: String]) { settled = information }

  mutating func cancel(_ call: Int) { waiting.remove(call) }

  mutating func recall(_ call: Int) -> [String: String]? {
    guard lastClaim == call else { return nil }
    lastClaim = nil
    return settled
  }

  /// Sets the texts.
  /// - Returns: false if they are the same.
  mutating func set(_ information: [String: String]) -> Bool {
    guard information != self.information else { return false }
    self.information = information
    revision &+= 1
    return true
  }
}
