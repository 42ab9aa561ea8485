import HCI

/// A command that a controller does not execute.
struct Refusal: Error {
  let code: HCIErrorCode
  init(_ code: HCIErrorCode) { self.code = code }
}

extension CommandPacket {
  /// The command in this packet.
  func decoded<Command: HCICommand>() throws(Refusal) -> Command {
    do throws(HCICodingError) { return try Command(decoding: self) } catch {
      throw Refusal(.invalidHCICommandParameters)
    }
  }

  /// The link that it is for: the first parameter of each command about one.
  var handle: ConnectionHandle {
    UInt16(parameters.first ?? 0) | UInt16(parameters.dropFirst().first ?? 0) << 8
  }
}

extension FixedWidthInteger {
  /// Its octets on the wire.
  var octets: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
