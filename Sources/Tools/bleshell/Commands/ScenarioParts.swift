import BledRPC
import Bluetooth
import JSONFiles

/// The devices and phones of a scenario file in parts that each fit into a call of `simulation.add`.
struct ScenarioParts {
  /// Some of the devices and phones.
  struct Part {
    /// The seed of the whole scenario.
    fileprivate let seed: Int64?
    fileprivate(set) var devices: [FileValue] = []
    fileprivate(set) var phones: [FileValue] = []

    /// The part as a scenario.
    var text: String {
      let seed = seed.map { "\"seed\":\($0)," } ?? ""
      return "{\(seed)\"devices\":[\(Self.list(devices))],\"phones\":[\(Self.list(phones))]}"
    }

    private static func list(_ values: [FileValue]) -> String { values.map(\.json).joined(separator: ",") }

    /// The daemon's error about this part, with the place in the file.
    /// - Parameter message: "scenario:1:17: devices[0].name: …"
    /// - Returns: nil for an error about another thing.
    func failure(_ message: String) -> FileError? {
      guard message.hasPrefix(ScenarioParts.name), let place = message.firstRange(of: ": ") else { return nil }
      let rest = message[place.upperBound...]
      for (list, values) in [("devices[", devices), ("phones[", phones)] where rest.hasPrefix(list) {
        let path = rest.dropFirst(list.count)
        guard let end = path.firstIndex(of: "]"), let index = Int(path[..<end]), values.indices.contains(index) else {
          return nil
        }
        return values[index].failure(String(path[path.index(after: end)...].drop { ".: ".contains($0) }))
      }
      return nil
    }
  }

  /// The daemon's name for the text.
  static let name = "scenario:"
  /// Octets of a line with this call, besides the text.
  private static let frame = 256
  /// The size of a part in octets, if it has several devices: between parts the daemon serves other programs.
  private static let share = 128 << 10

  let parts: [Part]

  private enum Keys: String, CaseIterable { case adapter, devices, phones, events, seed, clock }

  /// - Throws: `FileError` if it is no scenario, two devices have the same address, or one is too large for a call.
  init(_ file: FileValue) throws(FileError) {
    let members = try FileMembers(file, Keys.self)
    let seed = try members.optional(.seed) { value throws(FileError) in try value.integer(in: 0...Int64(1) << 53) }
    var (parts, part, size) = ([Part](), Part(seed: seed), 0)
    var addresses: Set<DeviceAddress> = []
    for (list, key) in [(\Part.devices, Keys.devices), (\Part.phones, .phones)] {
      for element in try members[key]?.elements() ?? [] {
        let more = Self.size(element.json) + 1
        guard more <= Self.room else {
          throw element.failure(
            "it is too large to be added: start bled with the file (--adapter simulated:FILE), or shorten it")
        }
        // The daemon ignores a device with an address of an earlier part.
        if let address = try Self.address(element), !addresses.insert(address).inserted {
          throw element.failure("two devices have the address \(address): give each its own")
        }
        if size > 0, size + more > Self.share {
          parts.append(part)
          (part, size) = (Part(seed: seed), 0)
        }
        part[keyPath: list].append(element)
        size += more
      }
    }
    self.parts = parts + [part]
  }

  /// The address of a device or phone; nil for a faulty one, which the daemon refuses.
  private static func address(_ element: FileValue) throws(FileError) -> DeviceAddress? {
    guard element.isObject else { return nil }
    let members = try element.members()
    func text(_ name: String) -> String? { members.last { $0.isNamed(name) }.flatMap { try? $0.value.text() } }
    guard let address = text("address"), let kind = DeviceAddress.Kind(word: text("addressType") ?? "public") else {
      return nil
    }
    return DeviceAddress(address, kind: kind)
  }

  /// True if a text fits into one call.
  static func fits(_ text: String) -> Bool { size(text) <= room }

  private static var room: Int { SimulationAdd.longestLine - frame }

  /// The octets that a text has as a string in JSON, or more.
  private static func size(_ text: String) -> Int {
    text.utf8.reduce(0) { size, octet in
      switch octet {
      case 0x0A, 0x0D, 0x09, UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): size + 2
      case 0..<0x20, 0x7F: size + 6
      default: size + 1
      }
    }
  }
}
