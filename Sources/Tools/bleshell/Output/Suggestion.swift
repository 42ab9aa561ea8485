/// The probable meaning of a mistyped word.
enum Suggestion {
  /// The candidates nearest to a word, or with the beginning nearest to it: with the fewest wrong, missing, surplus or
  /// swapped letters, at most one of these per three letters. Upper and lower case are not distinguished.
  /// - Returns: At most three.
  static func nearest(to word: String, among candidates: [String]) -> [String] {
    let wanted = Array(word.lowercased())
    guard !wanted.isEmpty, wanted.count <= 64 else { return [] }
    var best: [String] = []
    var least = wanted.count / 3
    for candidate in candidates where !best.contains(candidate) {
      let other = Array(candidate.lowercased().prefix(128))
      // A short word is the beginning of too many.
      let isLong = wanted.count > 3
      let steps = min(
        distance(wanted, other), isLong ? distance(wanted, Array(other.prefix(wanted.count))) : .max)
      guard steps <= least else { continue }
      best = steps < least ? [candidate] : best + [candidate]
      least = steps
    }
    return Array(best.prefix(3))
  }

  /// "; did you mean scan?", or nothing.
  /// - Parameter hint: A sentence for the end.
  static func question(_ word: String, among candidates: [String], then hint: String? = nil) -> String {
    let near = nearest(to: word, among: candidates)
    guard !near.isEmpty else { return hint.map { "; \($0)" } ?? "" }
    return "; did you mean \(near.joined(separator: " or "))?" + (hint.map { " \($0)" } ?? "")
  }

  /// The restricted Damerau-Levenshtein distance: letters wrong, missing, too many, or swapped with the next one.
  private static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var before: [Int] = []
    var row = Array(0...other.count)
    for (line, character) in one.enumerated() {
      var next = [line + 1]
      for (column, candidate) in other.enumerated() {
        var steps = min(row[column] + (character == candidate ? 0 : 1), row[column + 1] + 1, next[column] + 1)
        if line > 0, column > 0, character == other[column - 1], one[line - 1] == candidate {
          steps = min(steps, before[column - 1] + 1)
        }
        next.append(steps)
      }
      (before, row) = (row, next)
    }
    return row[other.count]
  }
}
