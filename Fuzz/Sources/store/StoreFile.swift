import BledRPC
import Bluetooth
import FoundationEssentials
import Fuzzing
import GATT

/// Files of the store: the format, the documents in them, and the attributes that are cached in one.
@main
enum StoreFile {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      switch input.number(below: 5) {
      case 0: checkFile(input.remainder())
      case 1: checkDamage(&input)
      case 2: checkPeripherals(input.remainder())
      case 3: checkSessions(input.remainder())
      default: checkAttributes(input.remainder())
      }
    }
  }

  /// Any octets are a file, or are refused; a file is read as what it was written.
  private static func checkFile(_ octets: [UInt8]) {
    guard let content = content(of: octets) else { return }
    // The first line of the format before has five words.
    let isOld = octets.prefix { $0 != UInt8(ascii: "\n") }.count { $0 == UInt8(ascii: " ") } == 4
    invariant(
      isOld || DocumentFormat.encode(content, name: "doc", version: 2) == octets, "another file reads the same")
  }

  /// A file that was cut, or in which one octet is another, does not read.
  private static func checkDamage(_ input: inout FuzzInput) {
    let (place, change) = (Int(input.word()), input.octet())
    let written = input.remainder()
    var file = DocumentFormat.encode(written, name: "doc", version: 2)
    invariant(content(of: file) == written, "what was written is not what is read")
    invariant(content(of: file, version: 3) == nil, "another version reads")
    let index = place % file.count
    invariant(content(of: Array(file[..<index])) == nil, "a file that was cut at \(index) reads")
    guard change != 0 else { return }
    file[index] ^= change
    invariant(content(of: file) == nil, "a file with another octet at \(index) reads")
  }

  private static func content(of file: [UInt8], version: Int = 2) -> [UInt8]? {
    do throws(DocumentFormat.Problem) {
      return try DocumentFormat.decode(file, name: "doc", version: version)
    } catch {
      invariant(!error.description.isEmpty, "refused without a word")
      return nil
    }
  }

  private static func checkPeripherals(_ content: [UInt8]) {
    guard let records = try? JSONDecoder().decode(PeripheralRecords.self, from: Data(content)) else { return }
    invariant(again(records) == records, "the devices become others")
    for record in records.peripherals {
      if let identifier = record.identifier { invariant(identifier.utf8.count == 36, "\(identifier) is no identifier") }
      if let address = record.deviceAddress { invariant("\(address.kind)" == record.addressType, "another address") }
      if let cache = record.cache { checkAttributes(cache.attributes.octets) }
    }
  }

  private static func checkSessions(_ content: [UInt8]) {
    guard let stored = try? JSONDecoder().decode(StoredSessions.self, from: Data(content)) else { return }
    invariant((again(stored)?.sessions.count ?? 0) == stored.sessions.count, "sessions are left out")
    for session in stored.sessions {
      invariant((session.credentials == nil) == (session.user == nil), "a user is made up")
      var state = session.state
      invariant(!state.limit(to: Set(Permission.allCases)), "a session with all permissions lacks one")
      let isEmpty = state.isEmpty
      invariant(state.limit(to: []) != isEmpty && state.isEmpty, "a session without permissions has one")
    }
  }

  /// Attributes are written in a form that reads the same; the next request lies within the range of handles.
  private static func checkAttributes(_ octets: [UInt8]) {
    guard let known = KnownAttributes(octets: octets) else { return }
    let written = known.octets
    guard let second = KnownAttributes(octets: written) else { return invariant(false, "its own octets do not read") }
    invariant(second.octets == written, "read again it is another")
    var goals: [DiscoveryGoal] = [.everything, .services([]), .services([0x180D])]
    for service in known.services {
      goals += [.includes(service.range.lowerBound), .characteristics(service.range.lowerBound)]
      goals += (service.characteristics ?? []).map { .descriptors($0.valueHandle) }
      for characteristic in service.characteristics ?? [] {
        let configuration = known.configuration(of: characteristic.valueHandle)
        invariant(configuration.map(known.isConfiguration) ?? true, "a configuration that is none")
      }
    }
    for goal in goals {
      do {
        _ = try known.missing(for: goal)
      } catch {
        invariant(false, "\(goal) is within nothing: \(error)")
      }
    }
  }

  private static func again<Value: Codable>(_ value: Value) -> Value? {
    (try? JSONEncoder().encode(value)).flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
  }
}
