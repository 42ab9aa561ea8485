import BledRPC
import Bluetooth
import Capture
import FoundationEssentials
import ValueFormats

/// Prints packets and calls, a line each, with the names of devices, attributes, adapters and users, and with the
/// meanings of values.
struct TrafficView {
  /// The packets and calls that are shown.
  enum Filter {
    case all
    /// Of a device, and the calls for it.
    case device(DeviceAddress?, identifier: String?)
    /// Of a device that may not be known yet, and may change its address.
    case following(@Sendable () async throws -> PeripheralList.Entry?)
  }

  let output: Output
  let showsAnnotations: Bool
  var filter = Filter.all
  /// The name of a user; nil if it has none.
  var users: @Sendable (UInt32) -> String? = { _ in nil }
  private let own: NameList
  /// The name that a device has without the user's; nil if it has none.
  private let name: @Sendable (DeviceAddress) async throws -> String?
  /// The names that were asked for.
  private var names: [DeviceAddress: String?] = [:]
  /// The names and formats of devices' attributes, also from descriptors that were read.
  private var naming: [DeviceAddress: AttributeNaming] = [:]
  /// The device that is followed, as the daemon knew it last.
  private var followed: PeripheralList.Entry?
  /// Addresses of other devices.
  private var others: Set<DeviceAddress> = []
  /// How many names are remembered.
  private static let maximumNames = 1024
  /// ATT packets with the whole value of an attribute (Core 5.4, Vol 3, Part F, 3.4.8).
  private static let opcodesOfValues: Set<UInt8> = [0x0B, 0x12, 0x1B, 0x1D, 0x52, 0xD2]
  private static let readResponse: UInt8 = 0x0B

  init(
    output: Output, own: NameList, showsAnnotations: Bool,
    name: @escaping @Sendable (DeviceAddress) async throws -> String?
  ) {
    (self.output, self.own, self.showsAnnotations, self.name) = (output, own, showsAnnotations, name)
  }

  mutating func show(_ entry: TrafficEntry) async throws {
    noteDescription(entry)
    guard try await isMeant(entry), showsAnnotations || !entry.isAnnotation else { return }
    let name = try await name(of: entry.peer)
    let attribute = described(entry)
    if output.json {
      let kind = entry.isAnnotation ? "call" : "packet"
      let line = Line(entry, name: name, attribute: attribute)
      return try output.object(kind, line, at: Double(entry.time) / 1_000_000)
    }
    let time = output.styled(clockText(Date(timeIntervalSince1970: Double(entry.time) / 1_000_000)), .dim)
    if entry.isAnnotation {
      let text = CallNote(entry.text).map { $0.text(users) } ?? entry.text
      return output.line("\(time)  \(output.styled(Output.clean(text), .dim))")
    }
    let arrow =
      switch entry.direction {
      case .sent: Output.hasUTF8 ? "→ " : "> "
      case .received: Output.hasUTF8 ? "← " : "< "
      case .none: ""
      }
    let adapter = entry.adapterName ?? "adapter \(entry.adapter)"
    let peer = output.styled(Output.clean(name ?? entry.peer.map { "\($0)" } ?? adapter), .name)
    let handle = entry.handle.map { handle in attribute.map { "\(handle.handleText) \($0.title)" } ?? handle.handleText
    }
    let parts = [entry.text, handle, entry.value.map { Hex.encode($0) }, Self.meaning(of: entry, attribute)?.shown]
    output.line("\(time)  \(peer)  \(arrow)\(parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "  "))")
  }

  private mutating func isMeant(_ entry: TrafficEntry) async throws -> Bool {
    let (address, identifier): (DeviceAddress?, String?)
    switch filter {
    case .all: return true
    case .device(let known, let named): (address, identifier) = (known, named)
    case .following(let find):
      if mayBeFollowed(entry) { followed = try await find() }
      guard let followed else { return false }
      (address, identifier) = (followed.deviceAddress, followed.peripheral)
      if let peer = entry.peer, peer != address { others.insert(peer) }
    }
    guard entry.isAnnotation else { return entry.peer != nil && entry.peer == address }
    // A gap concerns every device.
    guard CallNote(entry.text) != nil else { return true }
    return [identifier, address.map { "\($0)" }].contains { $0.map { entry.text.contains($0) } ?? false }
  }

  /// True if the daemon is to be asked about the device again: it may be a new one, or have a new address.
  private mutating func mayBeFollowed(_ entry: TrafficEntry) -> Bool {
    guard let followed else { return entry.isAnnotation || entry.peer != nil }
    guard let peer = entry.peer, peer != followed.deviceAddress else { return false }
    if others.count >= Self.maximumNames { others = [] }
    return !others.contains(peer)
  }

  /// The attribute of a packet, with the name and the format that the user gives it.
  private func described(_ entry: TrafficEntry) -> Attribute? {
    guard let type = entry.attribute, let handle = entry.handle else { return nil }
    var attribute = Attribute(handle: handle, uuid: type.uuid, properties: [], service: type.service)
    let naming = (type.isOwn ? nil : entry.peer).map { self.naming[$0] ?? newNaming($0) } ?? AttributeNaming(list: own)
    attribute.name = naming.name(of: type.uuid, in: type.service, handle: handle)
    attribute.format = naming.format(of: type.uuid, in: type.service, handle: handle)
    return attribute
  }

  private func newNaming(_ peer: DeviceAddress) -> AttributeNaming { AttributeNaming(list: own, address: "\(peer)") }

  /// A descriptor that names a characteristic of the device, or describes its values, may have been read.
  private mutating func noteDescription(_ entry: TrafficEntry) {
    guard entry.opcode == Self.readResponse, let type = entry.attribute, !type.isOwn, let peer = entry.peer,
      AttributeNaming.descriptors.contains(type.uuid), let handle = type.characteristic, let value = entry.value
    else { return }
    if naming.count >= Self.maximumNames { naming = [:] }
    let new = newNaming(peer)
    naming[peer, default: new].received(type.uuid, value, of: handle)
  }

  private static func meaning(of entry: TrafficEntry, _ attribute: Attribute?) -> ValueMeaning? {
    guard let attribute, let value = entry.value, let opcode = entry.opcode, opcodesOfValues.contains(opcode) else {
      return nil
    }
    return attribute.meaning(of: value)
  }

  private mutating func name(of peer: DeviceAddress?) async throws -> String? {
    guard let peer else { return nil }
    if let known = names[peer] { return known }
    if names.count >= Self.maximumNames { names = [:] }
    let name =
      if let own = own.name(ofDevice: "\(peer)") { Optional(own) } else { try await name(peer) }
    names[peer] = .some(name)
    return name
  }

  /// A packet as a JSON object.
  private struct Line: Encodable {
    let adapter: Int?
    let adapterName: String?
    let address: String?
    let name: String?
    let direction: String?
    let text: String
    let opcode: UInt8?
    let command: UInt16?
    let event: UInt8?
    let handle: UInt16?
    let uuid: String?
    let attribute: String?
    let value: String?
    let meaning: String?
    let number: Double?
    let unit: String?
    let note: Bool?

    init(_ entry: TrafficEntry, name: String?, attribute: Attribute?) {
      adapter = entry.isAnnotation ? nil : Int(entry.adapter)
      adapterName = entry.adapterName
      address = entry.peer.map { "\($0)" }
      self.name = name
      direction = entry.direction == .none ? nil : entry.direction == .sent ? "sent" : "received"
      text = entry.text
      opcode = entry.opcode
      (command, event) = (entry.command, entry.event)
      handle = entry.handle
      uuid = attribute.map { "\($0.uuid)" }
      self.attribute = attribute.flatMap { $0.name ?? $0.uuid.knownName }
      value = entry.value.map { Hex.encode($0) }
      let meaning = TrafficView.meaning(of: entry, attribute)
      self.meaning = meaning?.text
      (number, unit) = (meaning?.number, meaning?.unit)
      note = entry.isAnnotation ? true : nil
    }
  }
}

extension PeripheralList.Entry {
  var deviceAddress: DeviceAddress? { DeviceAddress(address, kind: addressType.known ?? .public) }
}
