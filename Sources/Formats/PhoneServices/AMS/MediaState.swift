/// Everything a phone has reported about its player.
public struct MediaState: Hashable, Sendable {
  /// The player's activity.
  public enum Playback: Int, Sendable {
    /// The player pauses.
    case paused = 0
    /// The player plays.
    case playing = 1
    /// The player rewinds.
    case rewinding = 2
    /// The player winds forward.
    case fastForwarding = 3
  }

  /// The values as received.
  public private(set) var values: [MediaAttribute: String] = [:]

  /// Begins with nothing.
  public init() {}

  /// A value has arrived.
  /// - Returns: True if it has changed.
  public mutating func update(_ update: MediaUpdate) -> Bool {
    defer { values[update.attribute] = update.value }
    guard let former = values[update.attribute] else { return !update.value.isEmpty }
    return Array(former.utf8) != Array(update.value.utf8)
  }

  /// The player's activity; nil: not reported, or not understood.
  public var playback: Playback? { playbackParts.first.flatMap { Int($0) }.flatMap(Playback.init) }

  /// The speed, 1 for normal.
  public var rate: Double? { number(playbackParts.dropFirst().first) }

  /// The seconds of the track already played when the value was received.
  public var elapsed: Double? { number(playbackParts.dropFirst(2).first) }

  /// The track's length in seconds.
  public var duration: Double? { number(values[.duration].map { $0[...] }) }

  /// The volume, 0 to 1.
  public var volume: Double? { number(values[.volume].map { $0[...] }).map { min(max($0, 0), 1) } }

  private var playbackParts: [Substring] {
    (values[.playback] ?? "").split(separator: ",", maxSplits: 3, omittingEmptySubsequences: false)
  }

  private func number(_ text: Substring?) -> Double? { text.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil } }
}
