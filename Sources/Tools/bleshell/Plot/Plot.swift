import Bluetooth

/// Numbers over time, drawn with axes that fit them.
struct Plot {
  /// A number at a time.
  private struct Point {
    let time: Double
    let number: Double
    /// True if nothing was received between it and the previous one.
    let isBehindGap: Bool
  }

  private static let maximumPoints = 8192

  let title: String
  private var points: [Point] = []
  private var isGap = false
  private(set) var unit = ""
  /// The number of numbers received.
  private(set) var count = 0
  /// The number of values that were not numbers.
  private var oddCount = 0
  private var sum = 0.0
  private var extremes: ClosedRange<Double>?

  init(title: String) { self.title = title }

  /// Adds a number; the oldest one is dropped if there are too many.
  /// - Parameter time: Seconds, in ascending order.
  mutating func add(_ number: Double, _ unit: String, at time: Double) {
    if points.count == Self.maximumPoints { points.removeFirst(Self.maximumPoints / 8) }
    points.append(Point(time: time, number: number, isBehindGap: isGap))
    (self.unit, isGap) = (unit, false)
    count += 1
    sum += number
    let known = extremes ?? number...number
    extremes = min(known.lowerBound, number)...max(known.upperBound, number)
  }

  /// A value was received that is not a number.
  mutating func skip() {
    oddCount += 1
    isGap = true
  }

  /// Nothing is received for now.
  mutating func interrupt() { isGap = true }

  /// "12 values, 61 to 97 bpm, average 78.5, 1 left out"
  var summary: String {
    guard let extremes else { return "no values" }
    let average = shortNumber((sum / Double(count) * 10).rounded() / 10)
    let range = "\(shortNumber(extremes.lowerBound)) to \(shortNumber(extremes.upperBound))"
    let odd = oddCount == 0 ? "" : ", \(oddCount) left out"
    return "\(count) \(count == 1 ? "value" : "values"), \(range) \(unit), average \(average)\(odd)"
  }

  // MARK: The drawing

  /// - Parameters:
  ///   - time: Now, on the clock of the points.
  ///   - notice: The text of the last line; nil: the keys that end the plot.
  /// - Returns: At most `rows` lines, none wider than `columns`.
  func lines(columns: Int, rows: Int, at time: Double, notice: String?) -> [[ScreenLine.Cell]] {
    let last = points.last.map { "\(shortNumber($0.number)) \(unit)" } ?? "-"
    let head: [ScreenLine.Cell] = [(title, .bold), ("  \(last)", .good), ("  \(summary)", .dim)]
    let status: ScreenLine.Cell = notice.map { ($0, .bad) } ?? ("q ends", .dim)
    let height = rows - 4
    guard height >= 1, columns >= 16 else {
      return [head, [status]].suffix(max(1, rows)).map { ScreenLine.fitted($0, to: columns) }
    }
    let lines = [head] + drawing(columns, height, at: time) + [[status]]
    return lines.map { ScreenLine.fitted($0, to: columns) }
  }

  /// The dots with both axes: two more lines than `height`.
  private func drawing(_ columns: Int, _ height: Int, at time: Double) -> [[ScreenLine.Cell]] {
    let shownRange = (points.map(\.number).min() ?? 0)...(points.map(\.number).max() ?? 1)
    let scale = PlotScale(from: shownRange.lowerBound, to: shownRange.upperBound, intervals: max(1, height / 3))
    let labels = scale.marks.map { shortNumber($0) }
    let labelWidth = min(labels.map(\.count).max() ?? 0, columns / 3)
    var dots = Braille(columns: columns - labelWidth - 2, rows: height)
    // A second at the least, so that the first numbers do not fill the screen.
    let start = min(points.first?.time ?? time, time - 1)
    draw(in: &dots, scale, from: start, to: max(time, start + 1))
    var marks: [Int: String] = [:]
    for (mark, label) in zip(scale.marks, labels) {
      let row = height - 1 - Int((scale.share(of: mark) * Double(dots.height - 1)).rounded()) / 4
      if marks[row] == nil { marks[row] = label }
    }
    var lines: [[ScreenLine.Cell]] = dots.lines.enumerated().map { row, line in
      let axis = "\((marks[row] ?? "").fitted(to: labelWidth, right: true)) \(marks[row] == nil ? "│" : "┤")"
      return [(axis, .dim), (line, .name)]
    }
    let blanks = String(repeating: " ", count: labelWidth + 1)
    lines.append([(blanks + "└" + String(repeating: "─", count: dots.columns), .dim)])
    lines.append([(blanks + " " + timeLabels(dots.columns, time - start), .dim)])
    return lines
  }

  private func draw(in dots: inout Braille, _ scale: PlotScale, from start: Double, to end: Double) {
    func place(_ point: Point) -> (x: Int, y: Int) {
      (
        Int(((point.time - start) / (end - start) * Double(dots.width - 1)).rounded()),
        Int((scale.share(of: point.number) * Double(dots.height - 1)).rounded())
      )
    }
    var former: (x: Int, y: Int)?
    for point in points {
      let here = place(point)
      dots.line(from: point.isBehindGap ? here : former ?? here, to: here)
      former = here
    }
  }

  /// The ages of the left end, the middle and the right end.
  private func timeLabels(_ width: Int, _ seconds: Double) -> String {
    let (left, right) = ("-\(Self.duration(seconds))", "now")
    let middle = "-\(Self.duration(seconds / 2))"
    guard width >= left.count + middle.count + right.count + 4 else {
      return left + String(repeating: " ", count: max(1, width - left.count - right.count)) + right
    }
    let beforeMiddle = max(1, width / 2 - left.count - middle.count / 2)
    let used = left.count + beforeMiddle + middle.count + right.count
    return left + String(repeating: " ", count: beforeMiddle) + middle
      + String(repeating: " ", count: max(1, width - used)) + right
  }

  /// "12 s", "3 min", "2 h"
  private static func duration(_ seconds: Double) -> String {
    if seconds < 9.95 { return "\(shortNumber((seconds * 10).rounded() / 10)) s" }
    if seconds < 180 { return "\(Int(nearest: seconds)) s" }
    return seconds < 10_800 ? "\(Int(nearest: seconds / 60)) min" : "\(Int(nearest: seconds / 3600)) h"
  }
}
