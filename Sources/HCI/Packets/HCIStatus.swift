import Bluetooth

/// The status of a command, or the reason for which a link ended: any octet, also one that has no name yet.
public struct HCIStatus: RawRepresentable, Hashable, Sendable {
  /// The octet on the wire.
  public let rawValue: UInt8
  /// Makes a status of the octet on the wire.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Makes a status of a code.
  public init(_ code: HCIErrorCode) { rawValue = code.rawValue }

  /// It went well.
  public static let success = HCIStatus(rawValue: 0)
  /// Whether it went well.
  public var isSuccess: Bool { rawValue == 0 }
  /// The code, if it has a name.
  public var code: HCIErrorCode? { HCIErrorCode(rawValue: rawValue) }
  /// The name of the code, or "unknown".
  public var name: String { code.map { "\($0)" } ?? "unknown" }

  /// The error as everybody carries it.
  /// - Parameter context: what was tried, as the beginning of the sentence: "The scan could not be started".
  public func error(_ context: String? = nil) -> BluetoothError {
    let sentence = code?.sentence ?? "The controller gave an error that has no name"
    return BluetoothError(
      domain: .hci, code: Int(rawValue), name: name, message: context.map { "\($0): \(sentence)." } ?? sentence + ".")
  }
}

extension HCIStatus: CustomStringConvertible {
  /// The number and the name: "0x3e connectionFailedToBeEstablished".
  public var description: String { "0x" + Hex.encode([rawValue]) + " " + name }
}
