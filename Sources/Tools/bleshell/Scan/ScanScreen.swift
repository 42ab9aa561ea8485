import BledRPC

/// The lines of a screen that shows a scan.
struct ScanScreen {
  typealias Cell = ScreenLine.Cell

  private static let bars = Array("▁▂▃▄▅▆▇█")
  /// From an empty bar to a full one, in dBm.
  private static let levels = -100.0 ... -40.0

  let columns: Int
  let rows: Int

  /// The number of devices on the screen.
  /// - Parameter hasDetail: True if a device is selected, with details below.
  func page(hasDetail: Bool) -> Int { max(1, rows - 2 - (hasDetail ? detailRows : 0)) }

  /// The lines for the selected device and the one above them; none on a small screen.
  private var detailRows: Int { rows < 12 ? 0 : min(12, rows / 2) }

  /// - Parameters:
  ///   - time: The present time on the clock of the list, in seconds.
  ///   - notice: A problem, such as an adapter that is off; it replaces the help.
  /// - Returns: At most `rows` lines, none wider than `columns`.
  func lines(_ list: ScanList, at time: Double, notice: String?) -> [[Cell]] {
    let shown = list.shown()
    let selected = shown.first { $0.report.peripheral == list.selected }
    let page = page(hasDetail: selected != nil)
    let width = nameWidth(of: shown)
    let place = shown.firstIndex { $0.report.peripheral == list.selected } ?? 0
    let first = max(0, min(place - page / 2, shown.count - page))
    var lines = [fitted([("  " + heading(list.order, width), .dim)])]
    for device in shown.dropFirst(first).prefix(page) {
      let isSelected = device.report.peripheral == list.selected
      lines.append(fitted(cells(device, width, at: time, isSelected: isSelected)))
    }
    if let selected, detailRows > 0 {
      while lines.count <= page + 1 { lines.append([]) }
      lines += ScanDetail(selected).lines.prefix(detailRows - 1).map(fitted)
    }
    let state: Cell =
      list.isTyping
      ? ("filter: \(list.filter.text)_   Enter keeps it, Escape removes it", .bold)
      : (notice ?? list.notice).map { ($0, .bad) }
        ?? ("\(counted(list, shown.count)); s sorts by \(next(list.order)), / filters, Enter connects, q ends", .dim)
    lines.append(fitted([state]))
    return Array(lines.suffix(max(1, rows)))
  }

  /// The history of a signal as small bars.
  static func bars(_ history: [Int], within levels: ClosedRange<Double> = levels) -> String {
    let text = history.map { rssi in
      let share = (Double(rssi) - levels.lowerBound) / (levels.upperBound - levels.lowerBound)
      return bars[min(bars.count - 1, max(0, Int(share * Double(bars.count))))]
    }
    return String(text)
  }

  /// "now", "12s", "3m"
  static func age(_ seconds: Double) -> String {
    let minutes = (seconds / 60).rounded(.down)
    return seconds < 1.5 ? "now" : seconds < 99.5 ? "\(Int(nearest: seconds))s" : "\(Int(nearest: minutes))m"
  }

  /// As wide as the names, within limits.
  private func nameWidth(of devices: [ScanList.Device]) -> Int {
    let widest = devices.map { ($0.report.name ?? "").columns }.max() ?? 0
    return min(max(6, widest), columns >= 100 ? 30 : 17)
  }

  private func heading(_ order: ScanList.Order, _ nameWidth: Int) -> String {
    func mark(_ text: String, _ column: ScanList.Order) -> String { column == order ? text + "*" : text }
    return [
      mark("NAME", .name).fitted(to: nameWidth), "ADDRESS".fitted(to: 17),
      mark("RSSI", .signal).fitted(to: 5, right: true), "".fitted(to: ScanList.historyLength),
      mark("AGE", .age).fitted(to: 4, right: true), "ADVERTISES",
    ].joined(separator: " ")
  }

  private func cells(
    _ device: ScanList.Device, _ nameWidth: Int, at time: Double, isSelected: Bool
  ) -> [Cell] {
    let report = device.report
    let style = { (style: Output.Style) in device.lost == nil ? style : .dim }
    let age = Self.age(time - device.heard)
    let bars = Self.bars(device.history).fitted(to: ScanList.historyLength, right: true)
    return [
      (isSelected ? "> " : "  ", .bold), ((report.name ?? "-").fitted(to: nameWidth) + " ", style(.bold)),
      (report.address.fitted(to: 17) + " ", style(.plain)),
      ((report.rssi.map(String.init) ?? "-").fitted(to: 5, right: true) + " ", style(.plain)),
      (bars + " ", style(.good)), (age.fitted(to: 4, right: true) + " ", .dim),
      (device.lost == nil ? ScanTable.contents(report).joined(separator: ", ") : "not heard any more", style(.plain)),
    ]
  }

  private func counted(_ list: ScanList, _ shown: Int) -> String {
    shown == list.count ? "\(shown) devices" : "\(shown) of \(list.count) devices, filter \(list.filter.text)"
  }

  private func next(_ order: ScanList.Order) -> String {
    switch order {
    case .signal: "age"
    case .age: "name"
    case .name: "signal"
    }
  }

  private func fitted(_ cells: [Cell]) -> [Cell] { ScreenLine.fitted(cells, to: columns) }
}
