import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc

/// A file that is written to a characteristic, piece by piece.
struct FileWriting {
  /// The longest file, in octets.
  private static let longest = 64 << 20
  /// The longest value of an attribute (Core 5.4, Vol 3, Part F, 3.2.9).
  static let longestPiece = 512

  let octets: [UInt8]
  let way: Writing.Way
  /// The octets of a piece; nil: as many as a packet has.
  let piece: Int?

  /// Reads the file, in a thread of its own: a pipe can block.
  /// - Parameter path: "-" for standard input.
  init(path: String, way: Writing.Way, piece: Int?) async throws {
    let octets = try await Task.detached { try Self.read(path) }.value
    (self.octets, self.way, self.piece) = (octets, way, piece)
  }

  /// Reads a file, which can block.
  /// - Parameter path: "-" for standard input.
  static func read(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure("\(path) cannot be read: \(String(cString: strerror(errno)))") }
    defer { if path != "-" { close(descriptor) } }
    var octets: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure("\(path) cannot be read: \(String(cString: strerror(errno)))") }
      guard count > 0 else { return octets }
      octets += buffer[..<count]
      guard octets.count <= longest else { throw Failure("\(path) is longer than \(longest >> 20) MiB") }
    }
  }

  /// Writes it.
  /// - Returns: The seconds that it took.
  @MainActor func write(to attribute: Attribute, of device: Device, _ progress: Progress) async throws -> Double {
    let room = Int(try await device.peripheral.parameters().mtu) - 3
    let length = max(1, min(piece ?? room, Self.longestPiece))
    guard length <= room || way == .usual else {
      throw Failure("--chunk \(length) is too long without responses: a packet has room for \(room) octets", status: 64)
    }
    let rate = TransferRate("to \(attribute.title)", size: UInt64(octets.count)) { progress.change($0) }
    let start = ContinuousClock.now
    rate.reached(0)
    var sent = 0
    while sent < octets.count {
      let next = min(sent + length, octets.count)
      do {
        try await device.write(Writing(octets: Array(octets[sent..<next]), way: way), to: attribute)
      } catch let error as BluetoothError {
        throw Failure("\(error); written before: \(sent) of \(octets.count) octets")
      }
      sent = next
      rate.reached(UInt64(sent))
    }
    return (ContinuousClock.now - start) / .seconds(1)
  }
}
