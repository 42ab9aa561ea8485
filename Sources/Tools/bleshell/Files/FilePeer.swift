import BledClient
import Dispatch
import FoundationEssentials
import Glibc
import NearbySessions

/// The options of both sides of a transfer.
enum FilePeer {
  /// The time for which a link may be lost until a transfer is given up.
  static let resumption = Duration.seconds(600)

  /// This machine among the peers.
  static func node(_ client: BledClient, name: String?, adapter: String?) throws -> NearbyNode {
    var settings = NearbySettings(type: .files, name: name ?? hostName)
    settings.adapter = adapter
    settings.resumption = resumption
    return try NearbyNode(client: client, settings: settings)
  }

  private static var hostName: String {
    var octets = [UInt8](repeating: 0, count: 256)
    let result = octets.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { gethostname($0, 255) } ?? -1 }
    }
    return result == 0 ? String(decoding: octets.prefix { $0 != 0 }, as: UTF8.self) : "bled"
  }

  /// Asks the person on standard input.
  static func confirms(_ question: String) async -> Bool {
    Output.write(STDERR_FILENO, "\(Output.clean(question)) [y/n] ")
    let answer = await withCheckedContinuation { continuation in
      DispatchQueue(label: "bleshell question").async { continuation.resume(returning: readLine()) }
    }
    return ["y", "yes"].contains(answer?.filter { !$0.isWhitespace }.lowercased())
  }
}

extension FlowEnd {
  /// The reason why a file did not arrive, for people.
  var problem: String {
    switch self {
    case .finished: "it arrived"
    case .cancelled: "the transfer was interrupted"
    case .declined, .tooMany: "the other side does not want it"
    case .damaged: "the octets that arrived have another hash; send it again"
    case .noRoom: "the other side has no room for it"
    }
  }
}
