import Bluetooth
import FoundationEssentials

/// The output of values as they come: lines, comma-separated values, or a plot.
@MainActor final class ValueFollowing {
  enum Form { case lines, csv, columns, plot }

  private let output: Output
  private let form: Form
  /// How many values are still to come; nil: no limit.
  private var left: Int?
  private var view: PlotView?
  /// The characteristics of each device, as far as they are known.
  private var sources: [ValueColumns.Source?]
  /// With columns: all of them, once they are known.
  private var columns: ValueColumns?
  /// Opens when the columns are known.
  private let hasColumns = Gate()
  /// How many characteristics of each device are not subscribed yet; nil: not known.
  private var missing: [Int?]
  /// Opens when the characteristics of all devices are subscribed.
  let isComplete = Gate()
  /// The last message since the last value.
  private var said: String?
  /// True if a person has ended the plot.
  private(set) var isEnded = false
  /// Ends it.
  var end: () -> Void = {}

  /// - Parameters:
  ///   - devices: How many devices there are.
  ///   - left: How many values are to come; nil: no limit.
  init(output: Output, form: Form, devices: Int, left: Int?) {
    (self.output, self.form, self.left) = (output, form, left)
    sources = Array(repeating: nil, count: devices)
    missing = Array(repeating: nil, count: devices)
  }

  /// The characteristics of a device were found. With columns, waits for the other devices.
  /// - Parameter number: The place of the device.
  /// - Throws: `Failure` if the device disconnects meanwhile.
  func found(_ attributes: [Attribute], of device: Device, at number: Int) async throws {
    missing[number] = attributes.count
    guard form == .columns, columns == nil else { return }
    sources[number] = .init(name: device.name, address: device.peripheral.link.address, attributes: attributes)
    let all = sources.compactMap { $0 }
    if all.count == sources.count {
      let columns = ValueColumns(all)
      output.line(columns.heading)
      self.columns = columns
      return hasColumns.open()
    }
    try await untilFirst(of: [{ [hasColumns] in try await hasColumns.pass() }, { try await device.untilLost() }])
  }

  /// A characteristic of a device is subscribed.
  /// - Parameter number: The place of the device.
  func subscribed(at number: Int) {
    missing[number]? -= 1
    if missing.allSatisfy({ $0 == 0 }) { isComplete.open() }
  }

  /// - Parameter place: The place of the device, and of its characteristic.
  /// - Returns: Whether it was the last one.
  func receive(
    _ value: [UInt8], of attribute: Attribute, _ device: Device, at place: ValueColumns.Place
  ) throws -> Bool {
    // Another characteristic may have sent the last one.
    guard left ?? 1 > 0 else { return true }
    switch form {
    case .plot: try plot(of: attribute, device).add(value, of: attribute)
    case .csv: output.csvValue(value, of: attribute, device: device, time: Date())
    case .columns:
      if let columns { output.line(columns.row([place: value], at: Date().timeIntervalSince1970)) }
    case .lines:
      try output.value(value, of: attribute, device: device, time: Date(), namesDevice: sources.count > 1)
    }
    said = nil
    left = left.map { $0 - 1 }
    return left == 0
  }

  /// Says why values are missing, once for each reason.
  func interrupt(_ text: String) {
    defer { said = text }
    guard said != text else { return }
    if let view { view.interrupt(text) } else { output.problem(text) }
  }

  func finish() { view?.finish() }

  private func plot(of attribute: Attribute, _ device: Device) -> PlotView {
    if let view { return view }
    let view = PlotView(title: "\(Output.clean(device.name)): \(attribute.title)", output: output) { [weak self] in
      self?.isEnded = true
      self?.end()
    }
    self.view = view
    return view
  }
}
