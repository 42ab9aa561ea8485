import Foundation

/// Remembers the thermometer from one start of the program to the next, in a file.
final class ThermometerMemory {
  private let file: URL

  init(file: URL) {
    self.file = file
  }

  var identifier: UUID? {
    get {
      let text = try? String(contentsOf: file, encoding: .utf8)
      return text.flatMap { UUID(uuidString: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
    set {
      do {
        try Data((newValue?.uuidString ?? "").utf8).write(to: file, options: .atomic)
      } catch {
        print("The thermometer could not be remembered: \(error.localizedDescription)")
      }
    }
  }
}
