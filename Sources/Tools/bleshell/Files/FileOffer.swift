import FoundationEssentials
import NearbySessions

/// The files of a transfer, as the invitation describes them before its answer.
struct FileOffer: Codable, Equatable {
  struct File: Codable, Equatable {
    var name: String
    var size: UInt64
  }

  /// The most files of a transfer.
  static let limit = 200

  var files: [File]

  var context: [UInt8] {
    get throws { Array(try JSONEncoder().encode(self)) }
  }

  init(files: [File]) { self.files = files }

  /// - Returns: nil for an invitation to something else, and for more files than a transfer may have.
  init?(context: [UInt8]) {
    guard let offer = try? JSONDecoder().decode(FileOffer.self, from: Data(context)),
      1...Self.limit ~= offer.files.count, offer.total != nil
    else { return nil }
    self = offer
  }

  /// The octets of all files; nil for a number that is no size.
  var total: UInt64? {
    var total: UInt64 = 0
    for file in files {
      let (sum, overflow) = total.addingReportingOverflow(file.size)
      guard !overflow, sum <= 1 << 50 else { return nil }
      total = sum
    }
    return total
  }

  /// 2 files, 3.4 MB: "photo.jpg", "notes.txt"
  var text: String {
    let names = files.prefix(5).map { Output.quoted(PeerName.file($0.name)) }.joined(separator: ", ")
    let more = files.count > 5 ? " and \(files.count - 5) more" : ""
    return "\(files.count == 1 ? "1 file" : "\(files.count) files"), \(octetText(total ?? 0)): \(names)\(more)"
  }
}

/// "3.4 MB"
func octetText(_ count: UInt64) -> String {
  var (value, unit) = (Double(count), "octets")
  for next in ["kB", "MB", "GB"] where value >= 1000 { (value, unit) = (value / 1000, next) }
  return unit == "octets" ? "\(count) octets" : "\(shortNumber((value * 10).rounded() / 10)) \(unit)"
}

/// "417 930", as people compare it.
func codeText(_ code: String) -> String { "\(code.prefix(3)) \(code.dropFirst(3))" }
