import BledRPC
import Bluetooth

/// The devices of a scan on a screen: their presence, their order, and the selected one.
///
/// | Input                  | Effect                                                                           |
/// |------------------------|----------------------------------------------------------------------------------|
/// | `heard`                | the device is present, with its signal strength in the history                   |
/// | `lost`                 | it fades                                                                         |
/// | `tick`                 | devices that faded `fading` s ago are removed                                    |
/// | up, down, pages, ends  | another device is selected; before that none is                                  |
/// | s                      | the next order: by signal, age, name                                             |
/// | /                      | the filter is typed, until Enter (keeps it) or Escape (clears it)                |
/// | Enter                  | `chosen`, if a device is selected and accepts connections; else a notice         |
/// | Escape                 | the filter is cleared                                                            |
/// | q, ^C                  | `ended`                                                                          |
struct ScanList {
  /// The order of the devices.
  enum Order: String, CaseIterable {
    /// The strongest first, by the average of the last packets.
    case signal
    /// The last received one first.
    case age
    case name
  }

  /// A task for the owner of the list.
  enum Event: Equatable {
    case changed
    case chosen(String)
    case ended
  }

  /// A device.
  struct Device {
    var report: ScanReport.Params
    /// The last signal strengths in dBm, the newest at the end.
    var history: [Int] = []
    /// Seconds, on the clock of the list.
    var heard: Double
    /// When it was lost; nil while it is present.
    var lost: Double?

    /// The average of the history.
    var level: Double? { history.isEmpty ? nil : Double(history.reduce(0, +)) / Double(history.count) }
  }

  static let historyLength = 8
  /// The time for which a lost device is still shown, in seconds.
  private static let fading = 8.0
  private static let maximumDevices = 4096

  private var devices: [String: Device] = [:]
  private(set) var order = Order.signal
  private(set) var filter = ScanListFilter("")
  /// True if keys are for the filter.
  private(set) var isTyping = false
  /// The identifier of the selected device.
  private(set) var selected: String?
  /// The reason why the last key did nothing.
  private(set) var notice: String?

  /// The number of devices, without the filter.
  var count: Int { devices.count }

  /// A device was received.
  mutating func received(_ report: ScanReport.Params, at time: Double) {
    guard devices.count < Self.maximumDevices || devices[report.peripheral] != nil else { return }
    var device = devices[report.peripheral] ?? Device(report: report, heard: time)
    (device.report, device.heard, device.lost) = (report, time, nil)
    if let rssi = report.rssi { device.history = device.history.suffix(Self.historyLength - 1) + [rssi] }
    devices[report.peripheral] = device
  }

  /// A device is no longer received.
  mutating func lost(_ peripheral: String, at time: Double) { devices[peripheral]?.lost = time }

  /// Time passes.
  mutating func tick(at time: Double) {
    devices = devices.filter { $0.value.lost.map { time - $0 < Self.fading } ?? true }
    if let selected, devices[selected] == nil { self.selected = nil }
  }

  /// The devices that pass the filter, in order.
  func shown() -> [Device] {
    let passing = devices.values.filter { filter.passes($0.report, level: $0.level) }
    return passing.sorted { one, other in
      switch order {
      case .signal where one.level != other.level: (one.level ?? -200) > (other.level ?? -200)
      case .age where one.heard != other.heard: one.heard > other.heard
      case .name where one.report.name != other.report.name:
        // Devices without a name come last.
        (one.report.name?.lowercased() ?? "\u{10FFFF}") < (other.report.name?.lowercased() ?? "\u{10FFFF}")
      default: one.report.peripheral < other.report.peripheral
      }
    }
  }

  /// Handles a key.
  /// - Parameter page: The number of devices on the screen.
  mutating func handle(_ key: Key, page: Int) -> Event {
    notice = nil
    if isTyping, types(key) { return .changed }
    switch key {
    case .up, .character("k"), .control("p"): move(-1)
    case .down, .character("j"), .control("n"): move(1)
    case .pageUp: move(-max(1, page))
    case .pageDown: move(max(1, page))
    case .home: move(-Self.maximumDevices)
    case .end: move(Self.maximumDevices)
    case .character("s"):
      order = Order.allCases[((Order.allCases.firstIndex(of: order) ?? 0) + 1) % Order.allCases.count]
    case .character("/"): isTyping = true
    case .enter:
      guard let selected else { break }
      guard devices[selected]?.report.connectable != false else {
        notice = "this device does not accept connections"
        break
      }
      return .chosen(selected)
    case .escape: filter = ScanListFilter("")
    case .character("q"), .control("c"): return .ended
    default: break
    }
    return .changed
  }

  private mutating func move(_ steps: Int) {
    let shown = shown()
    guard !shown.isEmpty else { return selected = nil }
    let place = shown.firstIndex { $0.report.peripheral == selected } ?? (steps < 0 ? shown.count : -1)
    selected = shown[min(max(0, place + steps), shown.count - 1)].report.peripheral
  }

  /// - Returns: True if the key was for the filter.
  private mutating func types(_ key: Key) -> Bool {
    switch key {
    case .character(let character) where filter.text.count < 64:
      filter = ScanListFilter(filter.text + String(character))
    case .character: break
    case .backspace: filter = ScanListFilter(String(filter.text.dropLast()))
    case .control("u"): filter = ScanListFilter("")
    case .enter: isTyping = false
    case .escape: (isTyping, filter) = (false, ScanListFilter(""))
    default: return false
    }
    return true
  }
}
