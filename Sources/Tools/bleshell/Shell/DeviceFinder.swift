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
    let candidates = (meant.isEmpty ? known : meant).map { DeviceCandidate($0.peripheral, $0.name, $0.address) }
    let match = meant.count == 1 ? candidates.first : try DeviceCandidate.choose(text, among: candidates)
    guard let match else {
      throw Failure(
        "bled does not know the device \(text)"
          + Suggestion.question(
            text, among: known.compactMap(\.name), then: "\"bleshell peripherals\" lists the known ones"))
    }
    return (match.identifier, names.name(ofDevice: match.address) ?? match.name ?? match.address)
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
    let candidates = known.map { DeviceCandidate($0.peripheral, $0.name, $0.address) }
    if let match = try DeviceCandidate.choose(text, among: candidates) {
      let entry = known.first { $0.peripheral == match.identifier }
      return FoundDevice(
        reference: .identifier(match.identifier),
        name: names.name(ofDevice: match.address) ?? match.name ?? match.address,
        connectable: entry?.acceptsConnections)
    }
    if text.utf8.count == 36, BluetoothUUID(text) != nil {
      return FoundDevice(reference: .identifier(text), name: text)
    }
    return try await search(text, within: deadline, over: adapter)
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
  func discover(_ text: String) async throws -> String {
    guard case .identifier(let identifier) = try await search(text, within: .never).reference else { return text }
    return identifier
  }

  /// Scans until a device with that name is received.
  private func search(
    _ text: String, within deadline: Deadline, over adapter: String? = nil
  ) async throws -> FoundDevice {
    let progress = output.progress("Looking for \(text)")
    defer { progress.end() }
    var heard: Set<String> = []
    let found: FoundDevice? = try await shell.scanning { client in
      let reports = try await client.scan(.init(adapter: adapter))
      return try await withDeadline(deadline.seconds) { @MainActor in
        for try await report in reports {
          if let name = report.name, heard.count < 256 { heard.insert(name) }
          let candidate = DeviceCandidate(report.peripheral, report.name, report.address)
          guard let match = try DeviceCandidate.choose(text, among: [candidate]) else { continue }
          return FoundDevice(
            reference: .identifier(match.identifier), name: match.name ?? match.address,
            connectable: report.connectable)
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
