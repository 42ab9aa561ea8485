import Beacons
import BledClient
import Bluetooth
import ValueFormats

/// The discovered devices, as pages show them. Each change has a version, so that a page receives the latest state of
/// the devices that changed since it was last served, however long ago: nothing waits for slow pages.
///
/// | Input            | Effect                                                                                     |
/// |------------------|--------------------------------------------------------------------------------------------|
/// | `heardAgain`     | the strength and time of a device whose report is otherwise the same as the one before     |
/// | `heard`          | the device is listed; beyond the limit of 2,000 a new one is counted as unlisted           |
/// | `lost`           | the device is removed; a sensor is marked as silent                                        |
/// | `clear`          | all devices are lost                                                                       |
/// | `expire`         | sensors that were silent for an hour are removed                                           |
/// | `setNames`       | all devices are described anew, if the names that the user gives have changed              |
struct AirTable: Sendable {
  /// An advertisement that differed from the one before.
  struct Change: Sendable, Encodable {
    var time: Double
    var data: HexBytes
    var scanResponse: HexBytes?
    var text: [String]
  }

  /// A device.
  struct Device: Sendable {
    var report: ScanReport.Params
    var text: [String]
    /// The name that the user gives.
    var ownName: String?
    /// The measurements of a sensor.
    var sensor: SensorReading?
    /// True if it is no longer heard; only sensors stay.
    var isSilent = false
    /// The number of reports.
    var count = 1
    /// The average time between two reports in seconds; nil before the second one.
    var interval: Double?
    /// The version of the last report.
    var heard: UInt64
    /// The version of the last report with other contents than the one before.
    var described: UInt64
    /// The newest last.
    var history: [Change] = []
  }

  static let maximumDevices = 2000
  static let maximumHistory = 8
  /// Sensors that were silent for longer are removed, in seconds: some send every few minutes.
  static let sensorSilence = 3600.0
  static let maximumSilent = 200
  private static let maximumGone = 2000
  /// The weight of the newest time in the average interval.
  private static let weight = 0.125

  private(set) var devices: [String: Device] = [:]
  /// The version of the last change; 0 belongs to a page that knows nothing.
  private(set) var version: UInt64 = 1
  /// The number of reports of devices beyond the limit.
  private(set) var unlisted = 0
  /// Removed devices, the oldest first.
  private var gone: [(version: UInt64, device: String)] = []
  /// The version of the newest removal that is no longer in `gone`.
  private var forgotten: UInt64 = 0
  private(set) var names = NameList()
  private let words: @Sendable (ScanReport.Params) -> [String]

  /// - Parameter words: the content of an advertisement.
  init(words: @escaping @Sendable (ScanReport.Params) -> [String]) { self.words = words }

  /// A device was received; most reports differ from the previous one in strength and time alone.
  /// - Returns: False if nothing was changed, and the whole report has to be passed to `heard`.
  mutating func receivedAgain(_ outline: ScanReport.Outline) -> Bool {
    guard let place = devices.index(forKey: outline.peripheral) else { return counted(asUnlisted: outline.peripheral) }
    guard !devices.values[place].isSilent, devices.values[place].report.hasContents(of: outline) else { return false }
    version += 1
    devices.values[place].receivedAgain(outline, version, weight: Self.weight)
    return true
  }

  /// Counts the report if it is of a new device beyond the limit.
  /// - Returns: true if it is.
  private mutating func counted(asUnlisted device: String) -> Bool {
    guard devices.count >= Self.maximumDevices, devices[device] == nil else { return false }
    unlisted += 1
    return true
  }

  /// A device was received.
  mutating func received(_ report: ScanReport.Params) {
    guard !counted(asUnlisted: report.peripheral) else { return }
    version += 1
    devices[report.peripheral, default: Device(report: report, text: [], count: 0, heard: 0, described: 0)]
      .received(report, version, words, names, weight: Self.weight)
  }

  /// A device is no longer received.
  mutating func lost(_ device: String) {
    guard let place = devices.index(forKey: device) else { return }
    guard devices.values[place].sensor != nil else { return remove(device) }
    version += 1
    devices.values[place].silence(version)
    let silent = devices.filter { $0.value.isSilent }
    guard silent.count > Self.maximumSilent else { return }
    if let oldest = silent.min(by: { $0.value.report.time < $1.value.report.time }) { remove(oldest.key) }
  }

  /// Removes the sensors that have been silent for too long.
  /// - Parameter now: seconds since the epoch.
  mutating func expire(at now: Double) {
    let old = devices.filter { $0.value.isSilent && now - $0.value.report.time > Self.sensorSilence }
    for device in old.keys { remove(device) }
  }

  /// The names that the user gives.
  mutating func setNames(_ names: NameList) {
    guard self.names != names else { return }
    self.names = names
    version += 1
    for place in devices.indices { devices.values[place].describe(version, names) }
  }

  private mutating func remove(_ device: String) {
    devices[device] = nil
    version += 1
    gone.append((version, device))
    guard gone.count > Self.maximumGone else { return }
    let old = gone.prefix(Self.maximumGone / 2)
    forgotten = old.last?.version ?? forgotten
    gone.removeFirst(old.count)
  }

  /// No device is received.
  mutating func clear() {
    version += 1
    devices = devices.filter { $0.value.sensor != nil }
    for place in devices.indices { devices.values[place].silence(version) }
    (gone, forgotten) = ([], version)
  }

  /// The changes since a version.
  struct Changes {
    /// True if the page has to forget all devices first.
    var isWhole: Bool
    var devices: [Device]
    var gone: [String]
  }

  /// - Parameter version: the page's last version; 0 for none.
  func changes(since version: UInt64) -> Changes {
    let isWhole = version == 0 || version < forgotten
    let start = isWhole ? 0 : version
    return Changes(
      isWhole: isWhole, devices: devices.values.filter { $0.heard > start },
      gone: isWhole ? [] : gone.filter { $0.version > start && devices[$0.device] == nil }.map(\.device))
  }
}

extension ScanReport.Params {
  /// True if all that a page shows of a report is unchanged, except strength and time. Decoded values follow from the
  /// data.
  fileprivate func hasContents(of outline: ScanReport.Outline) -> Bool {
    data == outline.data && scanResponse == outline.scanResponse && name == outline.name && adapter == outline.adapter
      && address == outline.address && addressType == outline.addressType && connectable == outline.connectable
  }
}

extension AirTable.Device {
  fileprivate mutating func silence(_ version: UInt64) {
    isSilent = true
    (heard, described) = (version, version)
  }

  fileprivate mutating func describe(_ version: UInt64, _ names: NameList) {
    ownName = names.name(ofDevice: report.address)
    (heard, described) = (version, version)
  }

  /// The services that it advertises, or has data of.
  var services: [BluetoothUUID] {
    let listed = report.services ?? []
    let withData = (report.serviceData ?? [:]).keys.sorted().compactMap { BluetoothUUID($0) }
    return listed + withData.filter { !listed.contains($0) }
  }

  fileprivate mutating func receivedAgain(_ outline: ScanReport.Outline, _ version: UInt64, weight: Double) {
    average(outline.time, weight: weight)
    (report.rssi, report.time) = (outline.rssi, outline.time)
    (count, heard) = (count + 1, version)
  }

  private mutating func average(_ time: Double, weight: Double) {
    let passed = max(0, time - report.time)
    interval = interval.map { $0 + (passed - $0) * weight } ?? passed
  }

  fileprivate mutating func received(
    _ report: ScanReport.Params, _ version: UInt64, _ words: (ScanReport.Params) -> [String], _ names: NameList,
    weight: Double
  ) {
    let (former, wasSilent) = (self.report, isSilent)
    if count > 0 { average(report.time, weight: weight) }
    self.report = report
    (count, heard, isSilent) = (count + 1, version, false)
    let hasSameData = former.data == report.data && former.scanResponse == report.scanResponse
    guard
      count == 1 || wasSilent || !hasSameData || former.name != report.name || former.address != report.address
        || former.adapter != report.adapter || former.connectable != report.connectable
    else { return }
    describe(version, names)
    text = words(report)
    let decoded = report.decoded ?? []
    if sensor?.update(decoded) == nil { sensor = SensorReading(decoded) }
    guard count == 1 || !hasSameData else { return }
    if history.count == AirTable.maximumHistory { history.removeFirst() }
    history.append(.init(time: report.time, data: report.data, scanResponse: report.scanResponse, text: text))
  }
}
