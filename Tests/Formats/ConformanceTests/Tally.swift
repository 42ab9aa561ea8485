import Synchronization
import Testing

/// Counts cases, so that `make conformance` can report the number that passed. A case in several tests passes if it
/// does in each of them.
enum Tally {
  /// The parts that are counted separately.
  enum Part: String {
    case server, client, crypto, advertising, hci
  }

  /// A case that recorded its issues itself.
  struct CaseFailed: Error {}

  private static let cases = Mutex<[Part: [String: Bool]]>([:])

  /// Runs a test for each of a list of cases; a failure does not prevent the others.
  /// - Parameters:
  ///   - list: the name of the list within the part, the same in each test that looks at these cases.
  ///   - body: throws if the case fails, as `#require` does.
  static func run<Case>(_ part: Part, _ list: String, _ cases: [Case], _ body: (Case) throws -> Void) {
    for (index, item) in cases.enumerated() {
      var passes = true
      do {
        try body(item)
      } catch is ExpectationFailedError {
        passes = false
      } catch is CaseFailed {
        passes = false
      } catch {
        Issue.record(error, "case \(index) of \(part) \(list)")
        passes = false
      }
      Self.cases.withLock { all in
        let before = all[part]?["\(list) \(index)"] ?? true
        all[part, default: [:]]["\(list) \(index)"] = before && passes
      }
    }
    // The last test of a part prints its last line, and that one counts (scripts/conformance).
    Self.cases.withLock { all in
      let ended = all[part] ?? [:]
      print("conformance: \(part.rawValue) \(ended.count { $0.value }) of \(ended.count)")
    }
  }
}
