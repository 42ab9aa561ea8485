import Testing

@testable import bleshell

/// Numbers over time on a terminal.
@Suite struct PlotTests {

  private func text(_ plot: Plot, _ columns: Int, _ rows: Int, at time: Double) -> [String] {
    plot.lines(columns: columns, rows: rows, at: time, notice: nil).map { $0.map(\.text).joined() }
  }

  @Test(
    "a scale has all numbers, and round marks",
    arguments: [
      (60.0, 97.0, 5, 60.0...100.0, 10.0), (0, 1, 4, 0...1, 0.5), (36.4, 36.6, 4, 36.4...36.6, 0.05),
      (-3, 1200, 3, -500...1500, 500), (5, 5, 2, 4.5...5.5, 0.5), (1e12, 1e12 + 1, 1, 1e12...(1e12 + 1), 1),
    ] as [(Double, Double, Int, ClosedRange<Double>, Double)])
  func scale(least: Double, most: Double, intervals: Int, range: ClosedRange<Double>, step: Double) {
    let scale = PlotScale(from: least, to: most, intervals: intervals)
    #expect(scale.range.contains(least) || abs(scale.range.lowerBound - least) < step / 1e6)
    #expect(scale.range.contains(most) || abs(scale.range.upperBound - most) < step / 1e6)
    if least < 1e12 {
      #expect(abs(scale.range.lowerBound - range.lowerBound) < step / 1e6, "\(scale)")
      #expect(abs(scale.range.upperBound - range.upperBound) < step / 1e6, "\(scale)")
      #expect(abs(scale.step - step) < step / 1e6, "\(scale)")
    }
    #expect(scale.marks.count <= 2 * intervals + 3, "\(scale.marks)")
  }

  @Test("dots are where they belong: the first at the bottom left, the last at the top right")
  func dots() {
    var dots = Braille(columns: 2, rows: 1)
    dots.set(0, 0)
    dots.set(3, 3)
    dots.set(4, 0)
    dots.set(0, -1)
    #expect(dots.lines == ["\u{2840}\u{2808}"])
    dots.line(from: (0, 0), to: (3, 3))
    #expect(dots.lines == ["\u{2860}\u{280A}"])
  }

  @Test("a rising number rises from the left bottom to the right top, with marks and times")
  func rising() throws {
    var plot = Plot(title: "Belt")
    for number in UInt8(60)...80 { plot.add(Double(number), "bpm", at: Double(number) - 60) }
    let lines = text(plot, 40, 12, at: 20)
    #expect(lines.count == 12 && lines[0] == "Belt  80 bpm  21 values, 60 to 80 bpm, …", "\(lines)")
    #expect(lines[1].hasPrefix("80 ┤") && lines[8].hasPrefix("60 ┤"), "\(lines)")
    #expect(lines[1].last != " " && lines[8].dropFirst(4).first != " ")
    #expect(lines[1].dropFirst(4).first == " " && lines[8].last == " ")
    #expect(lines[10].hasPrefix("    -20 s") && lines[10].hasSuffix("now") && lines[10].contains("-10 s"), "\(lines)")
    #expect(plot.summary == "21 values, 60 to 80 bpm, average 70")
  }

  @Test("no line is drawn over a gap")
  func gap() throws {
    var (whole, broken) = (Plot(title: ""), Plot(title: ""))
    for (time, number) in [(0.0, UInt8(60)), (10, 80)] {
      whole.add(Double(number), "bpm", at: time)
      broken.add(Double(number), "bpm", at: time)
      broken.interrupt()
    }
    let count = { (plot: Plot) in
      text(plot, 40, 10, at: 10).joined().unicodeScalars.count { (0x2801...0x28FF).contains($0.value) }
    }
    #expect(count(whole) > 15 && count(broken) == 2)
  }

  @Test("every size has a screen of that size, with no, one and thousands of numbers")
  func sizes() throws {
    for amount in [0, 1, 20_000] {
      var plot = Plot(title: "Belt")
      for number in 0..<amount { plot.add(Double(UInt8(number % 200)), "bpm", at: Double(number)) }
      for (columns, rows) in [(1, 1), (3, 2), (15, 4), (16, 5), (20, 30), (80, 24), (300, 100)] {
        let lines = text(plot, columns, rows, at: Double(amount))
        #expect(lines.count <= rows && lines.allSatisfy { $0.columns <= columns }, "\(amount): \(columns) × \(rows)")
      }
    }
  }

  @Test("a row that is as wide as the screen keeps its last character")
  func erasing() {
    // Erasing behind such a row erases its last character, which the cursor is on then.
    #expect(FullScreen.drawing(["ab", "cd"]) == "\u{1B}[H\u{1B}[Kab\r\n\u{1B}[Jcd")
    #expect(FullScreen.drawing([]) == "\u{1B}[H\u{1B}[J")
  }

  @Test("a value that is not a number is left out and counted")
  func oddValues() throws {
    var plot = Plot(title: "Lamp: 2A37")
    plot.add(Double(60), "bpm", at: 1)
    plot.skip()
    plot.add(Double(80), "bpm", at: 2)
    #expect(plot.summary.hasPrefix("2 values, 60 to 80") && plot.summary.hasSuffix(", 1 left out"), "\(plot.summary)")
  }
}
