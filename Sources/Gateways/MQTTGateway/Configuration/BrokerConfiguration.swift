import JSONFiles

/// The broker, and the settings of the connection.
package struct BrokerConfiguration: Hashable, Sendable {
  /// The versions of the protocol.
  package enum Version: String, CaseIterable, Sendable {
    case v5 = "5"
    case v311 = "3.1.1"
  }

  /// An encrypted connection.
  package struct TLS: Hashable, Sendable {
    /// The file with the certificates that sign the broker's; nil: the system's.
    package var authority: String?
    /// The file with this gateway's certificate, and the one with its key.
    package var certificate: String?
    package var key: String?
  }

  /// Maximum addresses.
  private static let maximumAddresses = 8

  /// The broker, or the nodes of a cluster, 1 to 8: any of them serves.
  package var addresses = [BrokerAddress(host: "localhost", port: 1883)]
  package var tls: TLS?
  /// The file with user and password.
  package var credentials: String?
  /// Without TLS any machine on the way to the broker can send packets, and libmosquitto 2.0 aborts at an invalid
  /// property of MQTT 5: such a broker gets 3.1.1, which has none, unless the configuration sets the version.
  package var version = Version.v5
  /// True if the configuration leaves the version open.
  package private(set) var isVersionOpen = true
  /// True if the configuration leaves the version open, and the way to the broker allows only the older one.
  package var isOlderByDefault: Bool { isVersionOpen && version == .v311 }
  /// The pause after which the connection is checked, in seconds.
  package var keepAlive = 30
  /// The identifier of this client; nil: made from the name of the gateway.
  package var client: String?

  private enum Keys: String, CaseIterable { case host, port, tls, credentials, version, keepAlive, client }
  private enum TLSKeys: String, CaseIterable { case ca, certificate, key }

  init() {}

  init(_ section: FileValue) throws(FileError) {
    let members = try FileMembers(section, Keys.self)
    if let section = members[.tls] { tls = try Self.tls(section) }
    let port: UInt16 = try members.integer(.port, in: 1...65535, default: tls == nil ? 1883 : 8883)
    addresses = try Self.addresses(try members.value(.host), port: port)
    credentials = try Self.path(members[.credentials])
    version = try members.word(.version, default: tls != nil || addresses.allSatisfy(\.isHere) ? .v5 : .v311)
    isVersionOpen = members[.version] == nil
    keepAlive = try members.integer(.keepAlive, in: 5...3600, default: keepAlive)
    client = try members.optional(.client) { value throws(FileError) in try value.text(atMost: 128) }
  }

  /// One address, or a list.
  private static func addresses(_ value: FileValue, port: UInt16) throws(FileError) -> [BrokerAddress] {
    guard let elements = try? value.elements() else { return [try BrokerAddress(value, port: port)] }
    guard 1...maximumAddresses ~= elements.count else {
      throw value.failure("give 1 to \(maximumAddresses) addresses")
    }
    var addresses: [BrokerAddress] = []
    for element in elements {
      let address = try BrokerAddress(element, port: port)
      guard !addresses.contains(address) else { throw element.failure("this address is in the list already") }
      addresses.append(address)
    }
    return addresses
  }

  private static func tls(_ section: FileValue) throws(FileError) -> TLS? {
    if let flag = try? section.bool() { return flag ? TLS() : nil }
    let members = try FileMembers(section, TLSKeys.self)
    let tls = TLS(
      authority: try path(members[.ca]), certificate: try path(members[.certificate]), key: try path(members[.key]))
    guard (tls.certificate == nil) == (tls.key == nil) else {
      throw section.failure("give both \"certificate\" and \"key\", or neither")
    }
    return tls
  }

  private static func path(_ value: FileValue?) throws(FileError) -> String? {
    guard let value else { return nil }
    let path = try value.text(atMost: 1024)
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
      throw value.failure("give an absolute path")
    }
    return path
  }
}

/// The content of the file with user and password.
package struct BrokerCredentials: Hashable, Sendable {
  package let user: String
  package let password: String?

  private enum Keys: String, CaseIterable { case user, password }

  /// Reads a file.
  package init(file path: String) throws(FileError) {
    let members = try FileMembers(try JSONFile.read(path), Keys.self)
    user = try members.value(.user).text(atMost: 1024)
    password = try members.optional(.password) { value throws(FileError) in try value.text(atMost: 1024) }
  }
}
