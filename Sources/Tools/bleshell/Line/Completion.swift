import BledRPC
import Bluetooth
import ValueFormats

/// The effect of Tab on the word before the cursor: it is completed as far as all matches agree.
struct Completion: Equatable {
  /// The beginning of the word in the line, in characters.
  let start: Int
  /// The replacement text.
  let typed: String
  /// All matches, sorted.
  let candidates: [String]

  /// True if there is a choice left.
  var isAmbiguous: Bool { candidates.count > 1 }

  /// - Returns: nil if no candidate fits.
  init?(_ word: CommandWords.Last, among candidates: [String]) {
    let wanted = word.text.lowercased()
    // A name with characters that a terminal acts on cannot be typed.
    let fitting = Set(candidates.filter { $0.lowercased().hasPrefix(wanted) && Output.clean($0) == $0 }).sorted()
    guard let first = fitting.first else { return nil }
    start = word.start
    self.candidates = fitting
    if fitting.count == 1 {
      typed = CommandWords.typed(first, quote: word.quote) + (word.quote.map(String.init) ?? "") + " "
    } else {
      let common = fitting.dropFirst().reduce(first[...]) { $0.prefix(Self.common($0, $1)) }
      typed = CommandWords.typed(common.count < word.text.count ? word.text : String(common), quote: word.quote)
    }
  }

  /// The candidates in columns, as many rows as are readable.
  func rows(width: Int, most: Int = 20) -> [String] {
    let column = (candidates.map(\.columns).max() ?? 0) + 2
    let count = max(1, width / max(1, column))
    let height = (candidates.count + count - 1) / count
    var rows: [String] = []
    for row in 0..<min(height, most) {
      let cells = stride(from: row, to: candidates.count, by: height).map { candidates[$0].fitted(to: column) }
      rows.append(String(cells.joined().prefix(width)))
    }
    if height > most { rows.append("\(Output.ellipsis) of \(candidates.count)") }
    return rows
  }

  private static func common(_ one: Substring, _ other: String) -> Int {
    zip(one, other).prefix { $0.lowercased() == $1.lowercased() }.count
  }
}

/// The kinds of words that can stand at a place of a line.
enum CompletionPlace: Equatable {
  case words([String])
  case devices
  /// A characteristic of a device; nil: of the current one, or a device in front of it.
  case attributes(AttributeUse, of: String?)

  /// - Parameter words: The line, up to the cursor.
  init(_ line: CommandWords, commands: CommandList) {
    let before = Array(line.before)
    guard let first = before.first else {
      self = .words(commands.names + ["?", "clear", "help", "quit"])
      return
    }
    guard let command = commands.command(first) else {
      self = .words(first == "help" || first == "?" ? commands.names : [])
      return
    }
    let last = before.dropFirst().last ?? ""
    if line.last?.text.hasPrefix("-") == true {
      self = .words(command.options.keys.filter { $0 != "--socket" })
    } else if command.options[last] == true {
      self = .words([])
    } else {
      self.init(positional: Self.positionals(before.dropFirst(), of: command), of: command)
    }
  }

  private init(positional words: [String], of command: CommandList.Command) {
    if let use = AttributeUse(command: command.name) {
      self.init(words, for: use)
      return
    }
    switch (command.name, words.count) {
    case ("connect", 0), ("services", 0), ("rssi", 0), ("forget", 0), ("pair", 0), ("info", 0), ("inspect", 0),
      ("parameters", 0), ("phy", 0), ("disconnect", 0), ("use", 0), ("uart", 0), ("clone", 0):
      self = .devices
    case ("power", 0): self = .words(["on", "off"])
    case (_, 0): self = .words(command.subcommands.map(\.name))
    case ("pairing", 1) where words == ["forget"]: self = .devices
    default: self = .words([])
    }
  }

  private init(_ words: [String], for use: AttributeUse) {
    let group = use.takesSeveral ? Array(words.split(separator: DeviceWords.separator).last ?? []) : words
    let isNewDevice = use.takesSeveral && words.last == DeviceWords.separator
    switch isNewDevice ? 0 : group.count {
    case 0: self = isNewDevice ? .devices : .attributes(use, of: nil)
    case 1: self = .attributes(use, of: group[0])
    default: self = use.takesSeveral ? .attributes(use, of: group[0]) : .words([])
    }
  }

  /// The words without options and their values.
  private static func positionals(_ words: ArraySlice<String>, of command: CommandList.Command) -> [String] {
    var positionals: [String] = []
    var isValue = false
    for word in words {
      if !isValue, !word.hasPrefix("--") { positionals.append(word) }
      isValue = !isValue && command.options[word] == true
    }
    return positionals
  }
}

extension [ServiceDescription] {
  /// The words that denote the characteristics for a use: names and UUIDs, or handles where several have them.
  /// - Parameter naming: Names beside the assigned ones.
  func words(for use: AttributeUse, _ naming: AttributeNaming = AttributeNaming()) -> [String] {
    let all = flatMap { service in (service.characteristics ?? []).map { (service: service.uuid, $0) } }
    return all.filter { use.fits($0.1.properties) }.flatMap { service, characteristic in
      let isUnique = all.count { $0.1.uuid == characteristic.uuid } == 1
      guard isUnique else { return [characteristic.handle.handleText] }
      let given = naming.name(of: characteristic.uuid, in: service, handle: characteristic.handle)
      return [given, characteristic.uuid.knownName, "\(characteristic.uuid)"].compactMap { $0 }
    }
  }
}
