/// A drawing of dots, eight of which are a character: two beside and four below each other (Unicode, U+2800).
struct Braille {
  let columns: Int
  let rows: Int
  private var dots: [UInt8]

  /// - Parameters:
  ///   - columns: Characters beside each other, as `rows` 1 or more.
  init(columns: Int, rows: Int) {
    (self.columns, self.rows) = (max(1, columns), max(1, rows))
    dots = [UInt8](repeating: 0, count: self.columns * self.rows)
  }

  /// Dots beside each other.
  var width: Int { columns * 2 }
  /// Dots below each other.
  var height: Int { rows * 4 }

  /// The bits of a character's dots, from top to bottom, for the left and the right column.
  private static let bits: [[UInt8]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]

  /// Makes a dot; points outside are left out.
  /// - Parameters:
  ///   - x: From the left, 0 is the first.
  ///   - y: From the bottom.
  mutating func set(_ x: Int, _ y: Int) {
    guard (0..<width).contains(x), (0..<height).contains(y) else { return }
    let row = height - 1 - y
    dots[row / 4 * columns + x / 2] |= Self.bits[x % 2][row % 4]
  }

  /// Draws a straight line.
  mutating func line(from start: (x: Int, y: Int), to end: (x: Int, y: Int)) {
    let steps = max(abs(end.x - start.x), abs(end.y - start.y))
    guard steps > 0, steps < 1 << 16 else { return set(end.x, end.y) }
    for step in 0...steps {
      let share = Double(step) / Double(steps)
      set(
        start.x + Int((Double(end.x - start.x) * share).rounded()),
        start.y + Int((Double(end.y - start.y) * share).rounded()))
    }
  }

  /// The rows from top to bottom.
  var lines: [String] {
    (0..<rows).map { row in
      // Not all fonts have the character without dots.
      let scalars = dots[row * columns..<(row + 1) * columns].map { Unicode.Scalar(0x2800 + UInt32($0)) ?? " " }
      return String(String.UnicodeScalarView(scalars.map { $0.value == 0x2800 ? " " : $0 }))
    }
  }
}
