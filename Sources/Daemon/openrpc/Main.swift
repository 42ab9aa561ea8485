import BledRPC
import FoundationEssentials

/// Writes docs/openrpc.json, the description of the protocol.
@main enum Main {
  /// The path of the document.
  static var path: String { DocComments.package + "/docs/openrpc.json" }

  static func main() throws { try document().write(to: URL(filePath: path)) }

  /// The content of docs/openrpc.json.
  static func document() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    var data = try encoder.encode(try OpenRPC.description(DocComments()).document)
    data.append(UInt8(ascii: "\n"))
    return data
  }
}
