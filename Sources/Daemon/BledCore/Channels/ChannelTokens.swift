import Bluetooth

/// The tokens by which programs fetch their channels at the second socket: 128 random bits each, valid once, for one
/// user, and for some time.
///
/// | Input                          | Effect                                |
/// |--------------------------------|---------------------------------------|
/// | issue                          | a new token of the channel → waiting  |
/// | take, by its user and in time  | the channel's number → (none)         |
/// | take, by another user          | nothing: it stays                     |
/// | take too late                  | nothing → (none)                      |
/// | revoke                         | → (none)                              |
struct ChannelTokens {
  /// A token's lifetime.
  static let timeout = Duration.seconds(30)
  /// Length of the token's text in octets.
  static let length = 32

  private struct Token {
    let channel: Int
    let user: UInt32?
    let deadline: Instant
  }

  private var tokens: [OctetText: Token] = [:]

  /// Makes a token: 32 hex digits.
  mutating func issue(_ channel: Int, to user: UInt32?, now: Instant) -> String {
    var generator = SystemRandomNumberGenerator()
    return issue(channel, to: user, now: now, random: (generator.next(), generator.next()))
  }

  /// Like `issue(_:to:now:)`, with given random bits.
  mutating func issue(_ channel: Int, to user: UInt32?, now: Instant, random: (UInt64, UInt64)) -> String {
    let text = [random.0, random.1].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
    tokens[OctetText(text)] = Token(channel: channel, user: user, deadline: now.advanced(by: Self.timeout))
    return text
  }

  /// Returns a token's channel, and invalidates the token.
  mutating func claim(_ text: String, by user: UInt32?, now: Instant) -> Int? {
    let key = OctetText(text)
    guard let token = tokens[key], token.user == user else { return nil }
    tokens[key] = nil
    return now < token.deadline ? token.channel : nil
  }

  /// The channel has ended.
  mutating func revoke(_ channel: Int) { tokens = tokens.filter { $0.value.channel != channel } }
}
