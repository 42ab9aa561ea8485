import BledRPC
import Bluetooth

/// The lines of a screen that shows a device: the parameters in force on the link, the tree, the selected attribute,
/// and the pending operations.
struct InspectScreen {
  typealias Cell = ScreenLine.Cell

  let columns: Int
  let rows: Int

  /// The number of the tree's lines on the screen.
  var page: Int { max(1, rows - headRows - detailRows - 1) }

  private var headRows: Int { rows >= 10 ? 4 : rows >= 6 ? 1 : 0 }
  private var detailRows: Int { rows >= 8 ? 2 : 0 }

  /// - Parameter time: The present time, in seconds, on the clock of the awaited events.
  /// - Returns: At most `rows` lines, none wider than `columns`.
  func lines(_ inspection: Inspection, at time: Double) -> [[Cell]] {
    var lines = head(inspection).prefix(headRows).map(fitted)
    let shown = inspection.shown
    let place = shown.firstIndex { $0 == inspection.selected } ?? 0
    let first = max(0, min(place - page / 2, shown.count - page))
    let width = titleWidth(inspection.rows)
    for row in shown.dropFirst(first).prefix(page) { lines.append(fitted(cells(row, width, inspection))) }
    while lines.count < headRows + page { lines.append([]) }
    lines += detail(inspection).prefix(detailRows).map(fitted)
    lines.append(fitted([status(inspection, at: time)]))
    return Array(lines.suffix(max(1, rows)))
  }

  // MARK: The link

  private func head(_ inspection: Inspection) -> [[Cell]] {
    let state: Cell =
      switch inspection.link {
      case .up: ("  connected", .good)
      case .lost: ("  not connected", .bad)
      case .connecting: ("  connecting", .dim)
      }
    return [
      [(inspection.heading, .bold), state],
      [(inspection.description.map { Self.facts($0).joined(separator: ", ") } ?? "", .plain)],
      [("RSSI ", .dim), (signal(inspection.history), .plain), (bars(inspection.history), .good)],
      [],
    ]
  }

  private func signal(_ history: [Int]) -> String {
    guard let last = history.last, let least = history.min(), let most = history.max() else { return "-" }
    return "\(last) dBm (\(least) to \(most)) "
  }

  /// The history on its own scale, as a link varies little: as wide as the history, 20 dB at the least.
  private func bars(_ history: [Int]) -> String {
    let (least, most) = (Double(history.min() ?? 0), Double(history.max() ?? 0))
    let half = max(10, (most - least) / 2)
    let middle = (least + most) / 2
    return ScanScreen.bars(history, within: middle - half...middle + half)
  }

  /// The parameters in force on a link, in a few words each.
  static func facts(_ link: LinkDescription) -> [String] {
    var facts: [String] = []
    if let interval = link.interval { facts.append("\(shortNumber(interval * 1000)) ms") }
    if let latency = link.latency { facts.append("latency \(latency)") }
    if let timeout = link.timeout { facts.append("timeout \(shortNumber(timeout)) s") }
    if let subrate = link.subrate { facts.append("one event of \(subrate)") }
    facts.append("MTU \(link.mtu)")
    if let tx = link.txPHY, let rx = link.rxPHY { facts.append("PHY \(tx == rx ? tx.text : "\(tx)/\(rx)")") }
    facts.append(link.security.map { "\($0), \(link.keySize ?? 0)-octet key" } ?? "not encrypted")
    return facts
  }

  // MARK: The tree

  /// Titles have half of the screen at the most.
  private func titleWidth(_ rows: [AttributeRow]) -> Int {
    min(rows.map { $0.depth * 2 + $0.title.columns }.max() ?? 0, max(8, columns / 2))
  }

  private func cells(_ row: AttributeRow, _ width: Int, _ inspection: Inspection) -> [Cell] {
    let isSelected = row == inspection.selected
    let mark: Cell = (isSelected ? "> " : inspection.isFolded(row) ? "+ " : "  ", .bold)
    let title: Cell = ((String(repeating: "  ", count: row.depth) + row.title).fitted(to: width), row.style)
    guard row.depth > 0 else { return [mark, title, ("  \(row.rest)", .dim)] }
    let isSubscribed = inspection.subscribed.contains(row.handle)
    let uses = [
      row.fits(.read) ? "r" : "-", row.fits(.write) ? "w" : "-",
      row.fits(.subscribe) ? (isSubscribed ? "*" : "s") : "-",
    ].joined()
    var cells: [Cell] = [mark, title, (" \(row.handle.handleText) ", .dim)]
    if case .included = row.kind { return cells }
    cells.append((uses + " ", isSubscribed ? .good : .dim))
    if let known = inspection.values[row.handle] {
      cells.append((row.attribute.meaning(of: known.octets)?.shown ?? Self.hex(known.octets), .plain))
    } else if let note = inspection.notes[row.handle] {
      cells.append((note, .dim))
    }
    return cells
  }

  private static func hex(_ octets: [UInt8]) -> String { octets.isEmpty ? "(empty)" : Hex.encode(octets) }

  // MARK: The selected attribute

  private func detail(_ inspection: Inspection) -> [[Cell]] {
    guard let row = inspection.selected else { return [[], []] }
    let title: [Cell] = [(row.title, .bold), ("  \(row.rest)", .dim)]
    guard let known = inspection.values[row.handle], row.depth > 0 else {
      return [title, [(row.depth > 0 ? inspection.notes[row.handle] ?? "" : "", .dim)]]
    }
    var cells: [Cell] = [("\(known.origin) \(clockText(known.time))  ", .dim)]
    if let text = row.attribute.meaning(of: known.octets)?.shown { cells.append(("\(text)  ", .bold)) }
    return [title, cells + [(Self.hex(known.octets), .plain)]]
  }

  // MARK: The last line

  private func status(_ inspection: Inspection, at time: Double) -> Cell {
    if let question = inspection.questions.first?.question { return (question.line(columns), .bold) }
    if let input = inspection.input {
      let prompt = "write \(inspection.selected.map { $0.handle.handleText } ?? ""): "
      // Draws its own cursor: the terminal's is hidden.
      let view = LineView(prompt: prompt, line: input.text + ["_"], cursor: input.cursor, width: columns)
      return (view.text, .bold)
    }
    if case .lost(let reason) = inspection.link {
      return ("c connects again, q ends; the link is lost: \(reason)", .bad)
    }
    if let notice = inspection.notice { return (notice, .bad) }
    if let passkey = inspection.passkey { return (passkey, .bold) }
    if let first = inspection.awaited.first {
      let seconds = Int(time - first.since)
      let others = inspection.awaited.count > 1 ? ", and \(inspection.awaited.count - 1) more" : ""
      return ("\(first.text) \(Output.ellipsis)\(seconds > 0 ? " \(seconds) s" : "")\(others)", .plain)
    }
    guard inspection.link == .up else { return ("connecting …", .plain) }
    let isNarrow = columns < 60
    return (
      isNarrow
        ? "r read, w write, s subscribe, q quit" : "r reads, w writes, s subscribes, left and right fold, q ends", .dim
    )
  }

  private func fitted(_ cells: [Cell]) -> [Cell] { ScreenLine.fitted(cells, to: columns) }
}

/// 15 and 7.5, not 15.0.
func shortNumber(_ value: Double) -> String {
  // Displayed numbers have at most three decimal places.
  let rounded = (value * 1000).rounded() / 1000
  return rounded.rounded() == rounded && abs(rounded) < 1e15 ? "\(Int(rounded))" : "\(rounded)"
}
