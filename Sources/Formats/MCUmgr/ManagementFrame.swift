import Bluetooth

/// A frame of MCUmgr's Simple Management Protocol: a header of 8 octets, then a map in CBOR
/// (Zephyr, SMP Protocol Specification).
public struct ManagementFrame: Hashable, Sendable {
  /// The operation. A response has the number of its request and 1.
  public enum Operation: UInt8, CaseIterable, Sendable {
    case read = 0
    case readResponse = 1
    case write = 2
    case writeResponse = 3

    /// The operation of the response; nil for a response.
    public var response: Operation? {
      switch self {
      case .read: .readResponse
      case .write: .writeResponse
      case .readResponse, .writeResponse: nil
      }
    }
  }

  /// Octets of the header.
  public static let headerLength = 8
  /// Octets of the payload that a header can name.
  public static let longestPayload = 0xFFFF

  /// The operation.
  public var operation: Operation
  /// The version of the protocol, 0 to 3; 1 since errors have groups.
  public var version: UInt8
  /// Flags; none is assigned.
  public var flags: UInt8
  /// The group of the command.
  public var group: UInt16
  /// The number of the request, which its response repeats.
  public var sequence: UInt8
  /// The command within the group.
  public var command: UInt8
  /// A map.
  public var payload: CBORValue

  /// Makes a frame.
  public init(
    _ operation: Operation, group: UInt16, command: UInt8, sequence: UInt8, payload: CBORValue, version: UInt8 = 1,
    flags: UInt8 = 0
  ) {
    (self.operation, self.group, self.command) = (operation, group, command)
    (self.sequence, self.payload, self.version, self.flags) = (sequence, payload, version & 3, flags)
  }

  /// Reads a whole frame.
  /// - Throws: `ManagementFrameError` for a frame that is too short or too long, an unknown operation, and a payload
  ///   that is no map in CBOR. An empty payload is an empty map.
  public init(decoding octets: some Collection<UInt8>) throws(ManagementFrameError) {
    var reader = OctetReader(Array(octets.prefix(Self.headerLength)))
    guard let first = reader.uint8(), let flags = reader.uint8(), let length = reader.bigEndian(2),
      let group = reader.bigEndian(2), let sequence = reader.uint8(), let command = reader.uint8()
    else { throw ManagementFrameError(description: "a frame has fewer than 8 octets") }
    guard octets.count == Self.headerLength + length else {
      throw ManagementFrameError(description: "a frame names \(length) octets, and has \(octets.count - 8)")
    }
    guard let operation = Operation(rawValue: first & 7) else {
      throw ManagementFrameError(description: "the operation \(first & 7) is unknown")
    }
    let payload: CBORValue
    do throws(CBORError) {
      payload = length == 0 ? .map([]) : try CBORValue(decoding: octets.dropFirst(Self.headerLength))
    } catch {
      throw ManagementFrameError(description: error.description)
    }
    guard case .map = payload else { throw ManagementFrameError(description: "the payload is no map") }
    self.init(
      operation, group: UInt16(group), command: command, sequence: sequence, payload: payload,
      version: first >> 3 & 3, flags: flags)
  }

  /// True if it is the response to a request. Some servers answer a write with the number of a read.
  public func answers(_ request: ManagementFrame) -> Bool {
    operation.response == nil && sequence == request.sequence && group == request.group && command == request.command
  }

  /// Its octets; a payload of more than 65,535 octets is cut off.
  public var encoded: [UInt8] {
    let payload = payload.encoded.prefix(Self.longestPayload)
    return [
      operation.rawValue | version << 3, flags, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF),
      UInt8(group >> 8), UInt8(group & 0xFF), sequence, command,
    ] + payload
  }
}

/// The reason why octets are not a frame.
public struct ManagementFrameError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The fault.
  public let description: String
}

/// Joins the parts of frames: a device divides a frame that is longer than a packet.
///
/// | Input                            | Effect                                          |
/// |----------------------------------|-------------------------------------------------|
/// | octets, and the frame lacks some | they are kept                                   |
/// | the end of a frame               | the frame is returned                           |
/// | a frame that cannot be read      | it is counted, and all that is kept is dropped  |
public struct FrameAssembly: Sendable {
  private var octets: [UInt8] = []
  /// How many frames could not be read.
  public private(set) var faults = 0
  /// The fault of the last of them.
  public private(set) var lastFault: ManagementFrameError?

  /// Waits for the beginning of a frame.
  public init() {}

  /// Adds the octets of a packet.
  /// - Returns: The frames that are complete now.
  public mutating func receive(_ more: [UInt8]) -> [ManagementFrame] {
    octets += more
    var frames: [ManagementFrame] = []
    while octets.count >= ManagementFrame.headerLength {
      let length = ManagementFrame.headerLength + Int(octets[2]) << 8 + Int(octets[3])
      guard octets.count >= length else { break }
      do throws(ManagementFrameError) {
        frames.append(try ManagementFrame(decoding: octets[..<length]))
        octets.removeFirst(length)
      } catch {
        // Behind it there may be the beginning of nothing.
        (faults, lastFault) = (faults + 1, error)
        octets = []
      }
    }
    return frames
  }

  /// Drops the part of a frame that is kept: the rest of it did not arrive.
  public mutating func reset() { octets = [] }
}
