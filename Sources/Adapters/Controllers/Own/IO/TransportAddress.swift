/// The location of a controller that speaks H4.
package enum TransportAddress: Hashable, Sendable {
  /// A Unix socket: its path, or "@" and a name in the abstract namespace.
  case unix(String)
  /// A numeric address and a port.
  case tcp(host: String, port: UInt16)
  /// A serial line: its device, its speed in Bd, and RTS/CTS flow control.
  case serial(String, speed: UInt32, hasFlowControl: Bool = true)

  /// The reason why a text is not an address.
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// The default speed of a serial line.
  static let usualSpeed: UInt32 = 1_000_000

  /// Parses "unix:PATH", "tcp:PORT", "tcp:ADDRESS:PORT" or "/dev/ttyACM0" with an optional ",SPEED" and ",noflow".
  ///
  /// A port alone is on this machine. Host names are not resolved.
  /// - Throws: `Fault`, which says how to write it.
  package init(_ text: String) throws(Fault) {
    if text.hasPrefix("unix:") {
      self = .unix(try Self.path(text.dropFirst(5)))
    } else if text.hasPrefix("tcp:") {
      self = try Self.tcp(text.dropFirst(4))
    } else if text.hasPrefix("/") {
      self = try Self.serial(text)
    } else {
      throw Fault(description: "give unix:PATH, tcp:PORT, tcp:ADDRESS:PORT, or a serial line such as /dev/ttyACM0")
    }
  }

  /// The longest name of a Unix socket, without the terminating octet (unix(7)).
  private static let longestPath = 107

  private static func path(_ text: Substring) throws(Fault) -> String {
    guard text.hasPrefix("/") || text.hasPrefix("@"), text.utf8.count > 1, !text.utf8.contains(0) else {
      throw Fault(description: "the path of a Unix socket is absolute, or \"@\" and an abstract name")
    }
    guard text.utf8.count <= longestPath else {
      throw Fault(description: "the path of a Unix socket has at most \(longestPath) octets")
    }
    return String(text)
  }

  private static func tcp(_ text: Substring) throws(Fault) -> TransportAddress {
    let parts = text.utf8.lastIndex(of: UInt8(ascii: ":")).map { (text[..<$0], text[text.index(after: $0)...]) }
    guard let port = UInt16(parts?.1 ?? text), port > 0 else {
      throw Fault(description: "a port is a number from 1 to 65535")
    }
    var host = parts?.0 ?? "127.0.0.1"
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    if host == "localhost" { host = "127.0.0.1" }
    guard !host.isEmpty, host.utf8.allSatisfy({ "0123456789abcdefABCDEF.:".utf8.contains($0) }) else {
      throw Fault(description: "give the numeric address of the controller: names are not looked up")
    }
    return .tcp(host: String(host), port: port)
  }

  private static let noFlowControl: Substring = "noflow"

  private static func serial(_ text: String) throws(Fault) -> TransportAddress {
    var parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let path = String(parts.removeFirst())
    let hasFlowControl = parts.last != noFlowControl
    if !hasFlowControl { parts.removeLast() }
    guard parts.count <= 1 else {
      throw Fault(description: "a serial line is its device and, after commas, its speed and \"noflow\"")
    }
    guard let text = parts.first else { return .serial(path, speed: usualSpeed, hasFlowControl: hasFlowControl) }
    guard let speed = UInt32(text), SerialSpeed(speed) != nil else {
      throw Fault(description: "a serial line has one of the speeds \(SerialSpeed.words)")
    }
    return .serial(path, speed: speed, hasFlowControl: hasFlowControl)
  }
}

extension TransportAddress: CustomStringConvertible {
  /// The given text.
  package var description: String {
    switch self {
    case .unix(let path): "unix:\(path)"
    case .tcp(let host, let port):
      host.utf8.contains(UInt8(ascii: ":")) ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
    case .serial(let path, let speed, let hasFlowControl):
      path + (speed == Self.usualSpeed ? "" : ",\(speed)") + (hasFlowControl ? "" : ",\(Self.noFlowControl)")
    }
  }
}
