import BledClient
import BledRPC
import Bluetooth
import ValueFormats

/// Finds the device denoted by a text, among the devices that the daemon knows or receives.
@MainActor struct DeviceFinder {
  let client: BledClient
  let shell: Shell
  let names: NameList
  let output: Output

  /// A device that the daemon knows, by name, address or identifier.
  func known(_ text: String) async throws -> (identifier: String, name: String) {
    let known = try await client.call(PeripheralList.self, Empty()).peripherals
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    let address = names.address(ofDevice: text) ?? parts.first.flatMap(DeviceCandidate.address)
    let meant = known.filter { $0.address == address && (parts.count == 1 || parts.last == $0.addressType.text) }
    let candidates = (meant.isEmpty ? known : meant).map { DeviceCandidate($0) }
    let match = meant.count == 1 ? candidates.first : try DeviceCandidate.choose(text, amongRecent: candidates)
    guard let match else {
      if let failure = DeviceCandidate.mistypedAddress(text) { throw failure }
      throw Failure(
        "bled does not know the device \(text)"
          + Suggestion.question(
            text, among: known.compactMap(\.name), then: "\"bleshell devices\" lists the known ones"))
    }
    return (match.identifier, names.name(ofDevice: match.address) ?? match.name ?? match.address)
  }

  /// True if the daemon knows a device, or several, by a text.
  func isKnown(_ text: String) async throws -> Bool {
    let known = try await client.call(PeripheralList.self, Empty()).peripherals.map { DeviceCandidate($0) }
    let first = text.split(separator: "/", maxSplits: 1).first.map(String.init) ?? text
    return DeviceCandidate.matches(names.address(ofDevice: text) ?? first, among: known) != nil
      || DeviceCandidate.matches(text, among: known) != nil
  }

  /// - Throws: `Failure` if it is unknown, and not received in time.
  func find(_ text: String, within deadline: Deadline, over adapter: String? = nil) async throws -> FoundDevice {
    let known = try await client.call(PeripheralList.self, Empty()).peripherals
    let parts = (names.address(ofDevice: text) ?? text).split(separator: "/", maxSplits: 1)
    // 12 digits may be a name, too.
    if let first = parts.first, let address = DeviceCandidate.address(String(first)),
      !known.contains(where: { $0.name == text })
    {
      let type = parts.count > 1 ? DeviceAddress.Kind(word: String(parts[1])) : nil
      guard type != nil || parts.count == 1 else {
        throw Failure("\(parts[1]) is not a type of addresses: give public or random", status: 64)
      }
      let entry = known.first { $0.address == address && (type == nil || $0.addressType.known == type) }
      let name = names.name(ofDevice: address) ?? text
      return FoundDevice(reference: .address(address, type: type), name: name, connectable: entry?.acceptsConnections)
    }
    if let (way, matches) = DeviceCandidate.matches(text, among: known.map { DeviceCandidate($0) }) {
      let match = try await present(matches, as: way, of: text, within: deadline, over: adapter)
      let entry = known.first { $0.peripheral == match.identifier }
      return FoundDevice(
        reference: .identifier(match.identifier),
        name: names.name(ofDevice: match.address) ?? match.name ?? match.address,
        connectable: entry?.acceptsConnections)
    }
    if let failure = DeviceCandidate.mistypedAddress(text) { throw failure }
    if text.utf8.count == 36, BluetoothUUID(text) != nil {
      return FoundDevice(reference: .identifier(text), name: text)
    }
    let (found, connectable) = try await search(text, within: deadline, over: adapter)
    return FoundDevice(
      reference: .identifier(found.identifier), name: found.name ?? found.address, connectable: connectable)
  }

  /// Seconds of a scan in which a device in range is usually heard.
  private static let window = 2.0

  /// The matching device that is present. A name with a single device of a lasting address needs no scan. Any other
  /// match does: a device with private addresses may have another one now, and of several devices with the name all but
  /// one may be such earlier addresses.
  /// - Throws: `Failure` if several are present, or none is heard in time.
  private func present(
    _ matches: [DeviceCandidate], as way: DeviceCandidate.Match, of text: String, within deadline: Deadline,
    over adapter: String?
  ) async throws -> DeviceCandidate {
    guard way.isOfName else { return try DeviceCandidate.choose(text, among: matches) ?? matches[0] }
    if matches.count == 1, matches[0].isLasting { return matches[0] }
    let progress = output.progress("Looking for \(text)")
    defer { progress.end() }
    let connected = matches.filter(\.isConnected)
    var heard: [DeviceCandidate] = []
    // An address may have changed within the first scan.
    for _ in 0..<2 where !deadline.isOver {
      heard = try await hear(text, asWellAs: way, over: adapter, within: min(Self.window, deadline.window))
      if (connected + heard).count <= 1 || !(connected + heard).contains(where: \.isPrivate) { break }
    }
    let identifiers = Set(connected.map(\.identifier))
    let present = connected + heard.filter { !identifiers.contains($0.identifier) }
    guard present.count <= 1 else { throw DeviceCandidate.ambiguous(text, present) }
    if let match = present.first { return match }
    return try await search(text, asWellAs: way, within: deadline, over: adapter).candidate
  }

  /// The devices that are heard within a time and match in a way, or in an earlier one.
  private func hear(
    _ text: String, asWellAs way: DeviceCandidate.Match, over adapter: String?, within seconds: Double
  ) async throws -> [DeviceCandidate] {
    try await shell.scanning { client in
      let reports = try await client.scan(.init(adapter: adapter))
      let heard = HeardDevices()
      _ = try await withDeadline(seconds) { @MainActor in
        for try await report in reports {
          let candidate = DeviceCandidate(report)
          guard let match = DeviceCandidate.matches(text, among: [candidate]), match.way.rawValue <= way.rawValue else {
            continue
          }
          heard.all[candidate.identifier] = candidate
        }
        try Task.checkCancellation()
        throw BledError.daemonUnreachable.error("the connection to bled was closed")
      }
      return Array(heard.all.values)
    }
  }

  /// Fails if a device reports that it does not accept connections. An older report is not enough: it scans for a
  /// moment.
  func checkConnectable(_ found: FoundDevice, within deadline: Deadline) async throws {
    guard found.connectable == false else { return }
    let progress = output.progress("Listening whether \(found.name) accepts connections")
    defer { progress.end() }
    let timeout = deadline.seconds > 0 ? min(2, deadline.seconds) : 2
    let accepts: Bool? = try await shell.scanning { client in
      guard let reports = try? await client.scan(.init(duplicates: true)) else { return nil }
      return try await withDeadline(timeout) {
        for try await report in reports {
          switch found.reference {
          case .identifier(let identifier) where report.peripheral == identifier: return report.connectable
          case .address(let address, _) where report.address == address: return report.connectable
          default: continue
          }
        }
        return true
      }
    }
    guard accepts == false else { return }
    throw Failure(
      "\(found.name) does not accept connections, according to its advertisement; with --keep it is waited for",
      passes: true)
  }

  /// Waits until a device is received, or the time of the caller is over.
  /// - Returns: Its identifier.
  func hear(_ text: String) async throws -> String {
    try await search(text, within: .never).candidate.identifier
  }

  /// Scans until a device with that name is received.
  /// - Parameter way: The last way in which it may match.
  private func search(
    _ text: String, asWellAs way: DeviceCandidate.Match = .beginningOfName, within deadline: Deadline,
    over adapter: String? = nil
  ) async throws -> (candidate: DeviceCandidate, connectable: Bool?) {
    let progress = output.progress("Looking for \(text)")
    defer { progress.end() }
    var heard: Set<String> = []
    let found: (DeviceCandidate, Bool?)? = try await shell.scanning { client in
      let reports = try await client.scan(.init(adapter: adapter))
      return try await withDeadline(deadline.seconds) { @MainActor in
        for try await report in reports {
          if let name = report.name, heard.count < 256 { heard.insert(name) }
          let candidate = DeviceCandidate(report)
          guard let match = DeviceCandidate.matches(text, among: [candidate]), match.way.rawValue <= way.rawValue else {
            continue
          }
          return (candidate, report.connectable)
        }
        throw BledError.daemonUnreachable.error("the connection to bled was closed")
      }
    }
    guard let found else {
      let question = Suggestion.question(text, among: heard.sorted())
      throw Failure(
        "\(text) was not heard within \(deadline.words) s\(question.isEmpty ? "." : question) "
          + "Is it on and in range? \"bleshell scan\" shows the devices.", passes: true)
    }
    return found
  }
}

/// The devices heard in a scan, by the daemon's identifiers.
@MainActor private final class HeardDevices {
  var all: [String: DeviceCandidate] = [:]
}

extension DeviceCandidate {
  /// True if it is present, or can be found by its address at any time.
  fileprivate var isLasting: Bool { isConnected || !isPrivate || sinceReport.map { $0 < 1 } ?? false }
}

/// A device to connect to.
struct FoundDevice {
  let reference: DeviceReference
  let name: String
  /// True if it accepts connections; nil if it was not received, or is connected.
  var connectable: Bool?
}

extension PeripheralList.Entry {
  /// True if it can be connected to, as far as known: a connected one may advertise for others.
  fileprivate var acceptsConnections: Bool? { state == "disconnected" ? connectable : nil }
}
