import HCI

/// The content of an LE Meta event of Channel Sounding (Core 6.0, Vol 4, Part E, 7.7.65.39 to 46), for people. bled
/// measures no distances; recordings of other stacks have these events.
struct ChannelSoundingWords {
  /// Follows the event's name.
  let text: String
  /// The link's handle; nil for a test, which has none.
  let link: ConnectionHandle?

  /// The handle of a test (LE CS Test).
  private static let test: ConnectionHandle = 0x0FFF
  /// A power that was not measured.
  private static let noPower: Int8 = 0x7F

  /// - Parameter octets: the parameters behind the subevent code.
  /// - Returns: nil for another event, and for one that ends early.
  init?(_ subevent: UInt8, _ octets: [UInt8]) {
    switch subevent {
    case 0x2C: self.init(octets, Self.capabilities)
    case 0x2D, 0x2E: self.init(octets) { _ in [] }
    case 0x2F: self.init(octets, Self.configuration)
    case 0x30: self.init(octets, Self.procedure)
    case 0x31: self.init(result: octets, Self.result)
    case 0x32: self.init(result: octets, Self.continuation)
    default: return nil
    }
  }

  /// An event with a status and a handle in front.
  private init?(_ octets: [UInt8], _ details: ([UInt8]) -> [String]?) {
    guard octets.count >= 3 else { return nil }
    if octets[0] != 0 {
      text = ": \(HCIStatus(rawValue: octets[0]))"
    } else {
      guard let details = details(octets) else { return nil }
      text = details.map { ", \($0)" }.joined()
    }
    link = octets[...].little16(at: 1)
  }

  /// An event with a handle in front.
  private init?(result octets: [UInt8], _ details: ([UInt8]) -> [String]?) {
    guard let handle = octets[...].little16(at: 0), let details = details(octets) else { return nil }
    text = details.map { ", \($0)" }.joined()
    link = handle == Self.test ? nil : handle
  }

  private static func capabilities(_ octets: [UInt8]) -> [String]? {
    guard octets.count >= 9 else { return nil }
    let roles = ["initiator", "reflector"].enumerated().filter { octets[8] >> $0.offset & 1 == 1 }.map(\.element)
    return [count(octets[3], "configuration"), count(octets[6], "antenna")] + roles
  }

  private static func configuration(_ octets: [UInt8]) -> [String]? {
    guard octets.count >= 12 else { return nil }
    guard octets[4] != 0 else { return ["configuration \(octets[3]) removed"] }
    let sub = octets[6] == 0xFF ? "" : " with \(octets[6])"
    return ["configuration \(octets[3])", "mode \(octets[5])\(sub)", octets[11] == 0 ? "initiator" : "reflector"]
  }

  private static func procedure(_ octets: [UInt8]) -> [String]? {
    guard octets.count >= 5 else { return nil }
    return ["configuration \(octets[3]) \(octets[4] == 0 ? "disabled" : "enabled")"]
  }

  private static func result(_ octets: [UInt8]) -> [String]? {
    guard octets.count >= 15, let procedure = octets[...].little16(at: 5) else { return nil }
    let power = Int8(bitPattern: octets[9])
    return ["configuration \(octets[2])", "procedure \(procedure)"]
      + (power == noPower ? [] : ["reference power \(power) dBm"]) + steps(octets[10...])
  }

  private static func continuation(_ octets: [UInt8]) -> [String]? {
    guard octets.count >= 8 else { return nil }
    return ["configuration \(octets[2])"] + steps(octets[3...])
  }

  /// The end of a result: the states of the procedure and of the subevent, the reason of an abort, the antenna paths,
  /// and the steps, each with its mode, its channel, and its data behind their length.
  private static func steps(_ octets: ArraySlice<UInt8>) -> [String] {
    let head = Array(octets.prefix(5))
    var rest = octets.dropFirst(5)
    var modes: [UInt8: Int] = [:]
    for _ in 0..<head[4] {
      guard rest.count >= 3, let mode = rest.first else { break }
      modes[mode, default: 0] += 1
      rest = rest.dropFirst(3 + Int(rest[rest.startIndex + 2]))
    }
    let words = modes.sorted { $0.key < $1.key }.map { "\($0.value) of mode \($0.key)" }
    return [count(head[4], "step") + (words.isEmpty ? "" : " (\(words.joined(separator: ", ")))")]
      + state(head[0], of: "procedure") + state(head[1], of: "subevent")
  }

  private static func state(_ octet: UInt8, of part: String) -> [String] {
    switch octet & 0x0F {
    case 0x0: ["\(part) complete"]
    case 0xF: ["\(part) aborted"]
    default: []
    }
  }

  private static func count(_ number: UInt8, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
