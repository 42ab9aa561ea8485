import Adapter
import BledRPC
import Bluetooth

/// The filter of a session's scan, except the signal strength (`SignalGate`).
struct ScanFilter {
  /// Maximum services, and maximum octets of a name, as in the Local Name itself (Core Specification, Vol 3, Part C,
  /// 12.1). `session.list` shows both to others.
  private static let maximumServices = 64
  static let longestName = 248
  /// Maximum alternatives.
  private static let maximumAlternatives = 16
  /// Maximum addresses.
  private static let maximumAddresses = 64

  private let services: Set<BluetoothUUID>
  private let solicitedServices: Set<BluetoothUUID>
  private let name: NamePattern?
  /// The address numbers, of any type; nil: all pass.
  let addresses: Set<UInt64>?
  /// At least one of these must match; an empty list matches all.
  private let alternatives: [AdvertisementFilter]
  let phys: Set<PHY>

  init(_ params: ScanStart.Params) throws {
    for (name, list) in [("services", params.services), ("solicitedServices", params.solicitedServices)] {
      guard list?.count ?? 0 <= Self.maximumServices else {
        throw BledError.invalidParameter.error("\"\(name)\" may list at most \(Self.maximumServices)")
      }
    }
    guard params.name?.utf8.count ?? 0 <= Self.longestName else {
      throw BledError.invalidParameter.error("\"name\" may have at most \(Self.longestName) octets")
    }
    phys = try Set(params.phys?.known(at: "phys").map(\.phy) ?? [.le1M])
    guard !phys.isEmpty else {
      throw BledError.invalidParameter.error("\"phys\" must list \"1M\", \"coded\" or both")
    }
    services = Set(params.services ?? [])
    solicitedServices = Set(params.solicitedServices ?? [])
    name = params.name.map { NamePattern($0) }
    guard params.addresses.map({ 1...Self.maximumAddresses ~= $0.count }) ?? true else {
      throw BledError.invalidParameter.error(
        "\"addresses\" must list 1 to \(Self.maximumAddresses) of them")
    }
    let numbers = try params.address.map { [try Self.number($0, of: "address")] } ?? []
    let more = try params.addresses?.map { try Self.number($0, of: "addresses") } ?? []
    addresses = numbers.isEmpty && more.isEmpty ? nil : Set(numbers + more)
    let filters = params.filters ?? []
    // An empty list would let nothing through.
    guard params.filters == nil || 1...Self.maximumAlternatives ~= filters.count else {
      throw BledError.invalidParameter.error(
        "\"filters\" has \(filters.count) elements: give 1 to \(Self.maximumAlternatives), or leave it out")
    }
    alternatives = try filters.enumerated().map { try AdvertisementFilter($1, at: "filters[\($0)]") }
  }

  private static func number(_ text: String, of name: String) throws -> UInt64 {
    guard let address = DeviceAddress(text, kind: .public) else {
      throw BledError.invalidParameter.error(
        "\"\(text.excerpt)\" of \"\(name)\" is not an address: give six pairs of hex digits with colons between them")
    }
    return address.value
  }

  /// True if it consists of addresses only.
  var isOnAddresses: Bool { addresses != nil && name == nil && !namesServices && alternatives.isEmpty }

  /// True if it lists services: a scan in the background must.
  var namesServices: Bool { !services.isEmpty || !solicitedServices.isEmpty }

  /// True if the device's latest advertisement matches.
  func admits(_ peripheral: Peripheral) -> Bool {
    if let addresses, !addresses.contains(peripheral.address.value), !addresses.contains(peripheral.current.value) {
      return false
    }
    guard name != nil || namesServices || !alternatives.isEmpty else { return true }
    return admits(AdvertisedContent(peripheral))
  }

  /// True if the anonymous advertisement matches.
  func admits(anonymous content: AdvertisedContent) -> Bool { addresses == nil && admits(content) }

  private func admits(_ content: AdvertisedContent) -> Bool {
    if let name {
      guard let advertised = content.name, name.matches(advertised) else { return false }
    }
    guard !namesServices || listsWanted(content) else { return false }
    return alternatives.isEmpty || alternatives.contains { $0.admits(content) }
  }

  private func listsWanted(_ content: AdvertisedContent) -> Bool {
    if !services.isEmpty, content.services.contains(where: services.contains) { return true }
    return !solicitedServices.isEmpty
      && content.advertised.solicitedServiceUUIDs.contains(where: solicitedServices.contains)
  }
}
