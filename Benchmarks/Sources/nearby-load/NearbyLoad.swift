import BledClient
import Glibc
import NearbySessions

/// nearby-load SOCKET FROM TO MESSAGES OCTETS: the rates of so many messages of 100 octets, and of a stream and a file
/// of so many octets, between two nodes of one daemon on two adapters, beside a bare L2CAP channel between them.
@main struct NearbyLoad {
  /// The octets of a message.
  private static let length = 100

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 6, let messages = Int(words[4]), let octets = Int(words[5]) else {
      throw Failure("nearby-load SOCKET FROM TO MESSAGES OCTETS")
    }
    let (socket, from, to) = (words[1], words[2], words[3])
    let pair = try await Pair(socket, from, to)
    let folder = try temporaryFolder()
    let file = "\(folder)/octets"
    try write([UInt8](repeating: 7, count: octets), to: file)
    for round in 1...3 {
      let bare = try await pair.bare(messages: messages, of: length)
      print("round \(round): \(Int(bare)) SDUs/s over a bare channel", terminator: "")
      print(", \(Int(try await pair.nearby(messages: messages, of: length))) messages/s")
      let channel = try await pair.bareStream(octets)
      print("round \(round): \(text(channel)) over a bare channel", terminator: "")
      print(", \(text(try await pair.nearbyStream(octets))) over a stream", terminator: "")
      print(", \(text(try await pair.nearbyFile(file, of: octets, into: folder))) of a file")
    }
    await pair.stop()
  }

  private static func temporaryFolder() throws -> String {
    var template = Array("/tmp/nearby-load-XXXXXX".utf8CString)
    guard let folder = mkdtemp(&template) else { throw Failure("no temporary folder can be made") }
    return String(cString: folder)
  }

  private static func write(_ octets: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
    defer { close(descriptor) }
    guard Glibc.write(descriptor, octets, octets.count) == octets.count else { throw Failure("\(path): not written") }
  }

  private static func text(_ rate: Double) -> String {
    "\(Int((rate / 1024).rounded())) KiB/s"
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
