import Bluetooth

/// A peer's description: its advertisement, and its characteristic's value.
struct PeerDescription: Hashable, Sendable {
  /// Maximum octets of all information pairs together.
  static let longestInformation = 400

  var identifier: UInt64
  /// Changes with each change to the others.
  var revision: UInt8
  /// True if it accepts invitations: a peer that advertises only to be found again does not.
  var isInviting: Bool
  var psm: UInt16
  var name: String
  var information: [String: String]

  /// The advertisement's service data: 10 octets.
  var serviceData: [UInt8] {
    var octets: [UInt8] = []
    octets.append(number: identifier)
    return octets + [revision, isInviting ? 1 : 0]
  }

  /// The characteristic's value.
  var value: [UInt8] {
    var octets = [Hello.version]
    octets.append(number: identifier)
    octets += [revision]
    octets.append(number: psm)
    octets.append(text: name)
    for (key, text) in information.sorted(by: { $0.key < $1.key }) {
      octets.append(text: key)
      octets.append(text: text)
    }
    return octets
  }

  /// True if information can be part of a description.
  static func fits(_ information: [String: String]) -> Bool {
    information.allSatisfy { !$0.key.isEmpty && $0.key.utf8.count + $0.value.utf8.count <= 254 }
      && information.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 2 } <= longestInformation
  }
}

extension PeerDescription {
  /// A peer's advertisement.
  struct Mark: Hashable, Sendable {
    var identifier: UInt64
    var revision: UInt8
    var isInviting: Bool

    /// - Returns: nil for service data that is too short.
    init?(serviceData: some Sequence<UInt8>) {
      var reader = OctetReader(serviceData)
      guard let identifier = reader.number(UInt64.self), let revision = reader.number(UInt8.self),
        let flags = reader.number(UInt8.self)
      else { return nil }
      (self.identifier, self.revision, isInviting) = (identifier, revision, flags & 1 == 1)
    }
  }

  /// Reads the characteristic's value.
  /// - Returns: nil if malformed or of another version.
  init?(value: [UInt8]) {
    var reader = OctetReader(value)
    guard reader.number(UInt8.self) == Hello.version, let identifier = reader.number(UInt64.self),
      let revision = reader.number(UInt8.self), let psm = reader.number(UInt16.self), 1...255 ~= psm,
      let name = reader.text(), PeerName.isValid(name)
    else { return nil }
    var information: [String: String] = [:]
    while !reader.rest.isEmpty {
      guard let key = reader.text(), let text = reader.text(), information[key] == nil else { return nil }
      information[key] = text
    }
    guard Self.fits(information) else { return nil }
    self.init(
      identifier: identifier, revision: revision, isInviting: true, psm: psm, name: name, information: information)
  }
}
