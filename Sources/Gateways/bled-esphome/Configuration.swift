import BledConnection
import ESPHome
import Glibc
import JSONFiles

/// The configuration, a file in the style of bled.json.
struct Configuration {
  private enum Name: String, CaseIterable, Sendable {
    case name, friendlyName, listen, port, encryption, adapter, connections, activeScan, homeAssistant
  }

  /// The port on which Home Assistant listens for connections of proxies.
  private static let homeAssistantPort: UInt16 = 6054

  /// The default path of the file.
  static let standardFile = "/etc/bled/esphome.json"

  /// A label of a host name.
  var name = Self.hostName()
  var friendlyName: String
  var port: UInt16 = 6053
  var listen: ListenAddress
  var encryption = true
  var adapter: String?
  var connections = 8
  var activeScan = true
  /// The address to which the proxy connects by itself; nil: it does not.
  var homeAssistant: ListenAddress?

  /// Reads the file.
  /// - Parameter path: nil: the standard one, if it exists.
  init(file path: String?) throws(FileError) {
    var members: FileMembers<Name>?
    do throws(FileError) {
      members = try FileMembers(try JSONFile.read(path ?? Self.standardFile))
    } catch {
      guard path == nil, error.isMissingFile else { throw error }
    }
    try self.init(members)
  }

  private init(_ members: FileMembers<Name>?) throws(FileError) {
    friendlyName = "Bluetooth proxy \(name)"
    listen = ListenAddress(all: port)
    guard let members else { return }
    if let name = try members.optional(.name, { (value) throws(FileError) in try Self.label(value) }) {
      self.name = name
      friendlyName = "Bluetooth proxy \(name)"
    }
    if let text = try members.optional(.friendlyName, { (value) throws(FileError) in try value.text(atMost: 120) }) {
      friendlyName = text
    }
    encryption = try members.value(.encryption, default: true)
    port = try members.integer(.port, in: 1...65535, default: port)
    adapter = try members.optional(.adapter, { (value) throws(FileError) in try value.text(atMost: 64) })
    connections = try members.integer(.connections, in: 1...64, default: connections)
    activeScan = try members.value(.activeScan, default: true)
    homeAssistant = try members.optional(.homeAssistant, { (value) throws(FileError) in try target(value) })
    listen = encryption ? ListenAddress(all: port) : ListenAddress(loopback: port)
    guard let value = members[.listen] else { return }
    guard let address = ListenAddress(host: try value.text(atMost: 64), port: port) else {
      throw value.failure("this is not an IP address: give one of this machine, such as \"192.168.1.2\" or \"::\"")
    }
    guard encryption || address.isLocal else {
      throw value.failure(
        "without encryption anybody in the network could use the radio: give \"127.0.0.1\", or leave \"encryption\" out"
      )
    }
    listen = address
  }

  /// The settings of the proxy.
  func settings(key: [UInt8]?) -> Proxy.Settings {
    Proxy.Settings(
      name: name, friendlyName: friendlyName, key: key, adapter: adapter, connections: connections,
      scansActively: activeScan, connectsOut: homeAssistant != nil)
  }

  private func target(_ value: FileValue) throws(FileError) -> ListenAddress {
    guard encryption else {
      throw value.failure("the proxy connects with encryption alone: leave \"encryption\" out")
    }
    let text = try value.text(atMost: 64)
    guard !text.hasPrefix("unix:"),
      let address = ListenAddress(host: text, port: Self.homeAssistantPort) ?? ListenAddress(argument: text)
    else {
      throw value.failure(
        "this is not an IP address: give Home Assistant's, such as \"192.168.1.5\" or \"192.168.1.5:6054\"")
    }
    return address
  }

  private static func label(_ value: FileValue) throws(FileError) -> String {
    let text = try value.text(atMost: 63)
    guard !text.isEmpty, text.utf8.allSatisfy(isLabel) else {
      throw value.failure("this is not a label of a host name: give lower-case letters, digits and hyphens")
    }
    return text
  }

  private static func isLabel(_ code: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(code) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(code)
      || code == UInt8(ascii: "-")
  }

  /// The first label of the machine's name.
  private static func hostName() -> String {
    var octets = [CChar](repeating: 0, count: 256)
    gethostname(&octets, octets.count - 1)
    let name = octets.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: ".")) }.map { UInt8(truncatingIfNeeded: $0) }
    let label = String(decoding: name, as: UTF8.self).lowercased().utf8.prefix(63).map {
      isLabel($0) ? $0 : UInt8(ascii: "-")
    }
    return label.isEmpty ? "bled" : String(decoding: label, as: UTF8.self)
  }
}
