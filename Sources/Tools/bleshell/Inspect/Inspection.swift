import BledRPC
import Bluetooth
import FoundationEssentials

/// The screen of a device, and the effect of its keys.
///
/// | Input                   | Events                                                                             |
/// |-------------------------|------------------------------------------------------------------------------------|
/// | `found`                 | the tree is known; the selection stays with its attribute                          |
/// | `value`, `failed`       | the value of an attribute, or the reason for an error                              |
/// | `awaits`, `arrived`     | something is awaited; no longer                                                    |
/// | `measured`, `describes` | signal strength, for the history; the link's parameters                            |
/// | `lost`, `connects`, `isBack` | the link: no reads until it is back, and no subscriptions                     |
/// | up, down, pages, ends   | another line is selected                                                           |
/// | left, right             | the service is folded; unfolded                                                    |
/// | r                       | `read`: the value, or in the line of a service all in it                           |
/// | w                       | a value is typed, as for the command `write`: Enter is `write`, Escape nothing     |
/// | s                       | `subscribe`, or `unsubscribe`                                                      |
/// | c                       | `reconnect`, if the link is lost                                                   |
/// | q, ^C                   | `ended`                                                                            |
/// | `ask`, then y, n, text  | a device that pairs asks: until that is `answered` no key does anything else       |
/// | `showPasskey`           | the digits to be typed at a device, until `pairingEnded`                           |
struct Inspection {
  /// A task for the owner.
  enum Event: Equatable {
    case changed
    case read([UInt16])
    case write(UInt16, Writing)
    case subscribe(UInt16)
    case unsubscribe(UInt16)
    case reconnect
    /// The number of the question, and the answer; nil: a refusal.
    case answered(Int, String?)
    case ended
  }

  enum Link: Equatable {
    case up
    /// With the reason.
    case lost(String)
    case connecting
  }

  /// The value of an attribute as far as known.
  struct Known: Equatable {
    var octets: [UInt8]
    var time: Date
    /// "read", "written" or "notified"
    var origin: String
  }

  /// Something that is awaited.
  struct Awaited: Equatable {
    let key: String
    var text: String
    /// Seconds, on the clock of the screen.
    let since: Double
  }

  static let historyLength = 60
  private static let maximumAwaited = 256

  /// Name, address, adapter.
  let heading: String
  private(set) var rows: [AttributeRow] = []
  private(set) var link = Link.up
  /// Nil if unknown yet.
  private(set) var description: LinkDescription?
  /// The last signal strengths in dBm, the newest at the end.
  private(set) var history: [Int] = []
  private(set) var values: [UInt16: Known] = [:]
  /// The texts of 2901, by the handle of their descriptor, and refusals, by the handle of the attribute.
  private(set) var notes: [UInt16: String] = [:]
  private(set) var subscribed: Set<UInt16> = []
  private(set) var awaited: [Awaited] = []
  /// The last failure.
  private(set) var notice: String?
  private(set) var selected: AttributeRow?
  /// The value being typed; nil for none.
  private(set) var input: LineBuffer?
  /// The questions of pairings, one after the other.
  private(set) var questions: [(number: Int, question: PairingQuestion)] = []
  /// The passkey to be typed at a device.
  private(set) var passkey: String?
  private var folded: Set<UInt16> = []
  private var typed = LineBuffer()

  init(heading: String) { self.heading = heading }

  // MARK: Events

  mutating func found(_ services: [ServiceDescription]) {
    rows = services.rows
    let handles = Set(rows.map(\.handle))
    values = values.filter { handles.contains($0.key) }
    notes = notes.filter { handles.contains($0.key) }
    let same = rows.first {
      $0.handle == selected?.handle && $0.depth == selected?.depth && $0.uuid == selected?.uuid
    }
    // The typed text was for the removed attribute.
    if same == nil { input = nil }
    selected = same ?? rows.first
  }

  mutating func value(_ octets: [UInt8], of handle: UInt16, at time: Date, _ origin: String) {
    guard rows.contains(where: { $0.handle == handle }) else { return }
    values[handle] = Known(octets: octets, time: time, origin: origin)
    notes[handle] = nil
  }

  /// A value was written. A notification since the read request is newer.
  mutating func written(_ octets: [UInt8], to handle: UInt16, asked: Date, at time: Date) {
    if let known = values[handle], known.origin == "notified", known.time >= asked { return }
    value(octets, of: handle, at: time, "written")
  }

  /// Names and formats of attributes, which the user or the device gives them.
  mutating func described(_ attributes: [Attribute]) {
    for attribute in attributes {
      guard let place = rows.firstIndex(where: { $0.handle == attribute.handle && $0.depth > 0 }) else { continue }
      let isSelected = rows[place] == selected
      (rows[place].name, rows[place].format) = (attribute.name, attribute.format)
      if isSelected { selected = rows[place] }
    }
  }

  mutating func note(_ text: String, for handle: UInt16) { notes[handle] = text }

  /// - Parameter handle: The failed operation; nil: something else.
  mutating func failed(_ handle: UInt16?, _ text: String) {
    if let handle { notes[handle] = text }
    notice = text
  }

  mutating func awaits(_ text: String, for key: String, at time: Double) {
    guard awaited.count < Self.maximumAwaited, !awaited.contains(where: { $0.key == key }) else { return }
    awaited.append(Awaited(key: key, text: text, since: time))
  }

  /// The progress of an answer that is awaited.
  mutating func progress(_ text: String, of key: String) {
    for index in awaited.indices where awaited[index].key == key { awaited[index].text = text }
  }

  mutating func arrived(_ key: String) { awaited.removeAll { $0.key == key } }

  mutating func subscribes(_ handle: UInt16, _ isOn: Bool) {
    if isOn { subscribed.insert(handle) } else { subscribed.remove(handle) }
  }

  mutating func measured(_ rssi: Int) { history = history.suffix(Self.historyLength - 1) + [rssi] }

  mutating func describes(_ link: LinkDescription) { description = link }

  mutating func lost(_ reason: String) { (link, description, subscribed) = (.lost(reason), nil, []) }

  mutating func connects() { link = .connecting }

  mutating func isBack() { (link, notice) = (.up, nil) }

  // MARK: Pairing

  mutating func ask(_ question: PairingQuestion, as number: Int) { questions.append((number, question)) }

  mutating func withdraw(_ number: Int) { questions.removeAll { $0.number == number } }

  mutating func showPasskey(_ text: String) { passkey = text }

  mutating func pairingEnded() { passkey = nil }

  // MARK: The tree

  /// The lines that are not folded away.
  var shown: [AttributeRow] { rows.filter { $0.depth == 0 || !folded.contains($0.service) } }

  func isFolded(_ row: AttributeRow) -> Bool { row.depth == 0 && folded.contains(row.handle) }

  // MARK: Keys

  /// Handles a key.
  /// - Parameter page: The number of the tree's lines on the screen.
  mutating func handle(_ key: Key, page: Int) -> Event {
    if !questions.isEmpty {
      guard let answer = questions[0].question.handle(key) else { return .changed }
      return .answered(questions[0].number, answer)
    }
    if input != nil { return type(key) }
    notice = nil
    switch key {
    case .up, .character("k"), .control("p"): move(-1)
    case .down, .character("j"), .control("n"): move(1)
    case .pageUp: move(-max(1, page))
    case .pageDown: move(max(1, page))
    case .home: move(-rows.count)
    case .end: move(rows.count)
    case .left, .character("h"): fold(true)
    case .right, .character("l"): fold(false)
    case .character("q"), .control("c"): return .ended
    case .character("c"): return reconnect()
    case .character("r"): return read()
    case .character("s"): return subscribe()
    case .character("w"): beginTyping()
    default: break
    }
    return .changed
  }

  private mutating func move(_ steps: Int) {
    let shown = shown
    guard !shown.isEmpty else { return }
    let place = shown.firstIndex { $0 == selected } ?? 0
    selected = shown[min(max(0, place + steps), shown.count - 1)]
  }

  private mutating func fold(_ isFolded: Bool) {
    guard let service = selected?.service else { return }
    if isFolded {
      folded.insert(service)
      selected = rows.first { $0.depth == 0 && $0.handle == service }
    } else {
      folded.remove(service)
    }
  }

  private mutating func reconnect() -> Event {
    guard case .lost = link else { return .changed }
    link = .connecting
    return .reconnect
  }

  /// The attribute that a key is for.
  /// - Returns: nil, with a notice, if it cannot be used so.
  private mutating func target(_ use: AttributeUse) -> AttributeRow? {
    guard link == .up else {
      notice = "not connected: c connects again"
      return nil
    }
    guard let selected else { return nil }
    guard selected.fits(use) else {
      notice = "\(selected.title) cannot be \(Self.participle(use))"
      return nil
    }
    return selected
  }

  private static func participle(_ use: AttributeUse) -> String {
    switch use {
    case .read: "read"
    case .write: "written"
    case .subscribe: "subscribed to"
    }
  }

  private mutating func read() -> Event {
    if link == .up, let selected, selected.depth == 0 {
      let inside = rows.filter { $0.service == selected.handle && $0.depth == 1 && $0.fits(.read) }
      guard !inside.isEmpty else {
        notice = "\(selected.title) has nothing to read"
        return .changed
      }
      return .read(inside.map(\.handle))
    }
    return target(.read).map { .read([$0.handle]) } ?? .changed
  }

  private mutating func subscribe() -> Event {
    guard let row = target(.subscribe) else { return .changed }
    return subscribed.contains(row.handle) ? .unsubscribe(row.handle) : .subscribe(row.handle)
  }

  // MARK: A value that is typed

  private mutating func beginTyping() { if target(.write) != nil { input = typed } }

  private mutating func type(_ key: Key) -> Event {
    guard var line = input, let selected else { return .changed }
    if key == .escape {
      input = nil
      return .changed
    }
    switch line.handle(key) {
    case .entered(let text):
      line.remember(text)
      typed = line
      input = nil
      guard !text.allSatisfy(\.isWhitespace) else { return .changed }
      do {
        return .write(selected.handle, try Writing(line: text))
      } catch {
        notice = error.message
      }
    case .discarded, .ended: input = nil
    default: input = line
    }
    return .changed
  }
}
