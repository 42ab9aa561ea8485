import ATT
import Bluetooth

/// The type of an attribute in a recording.
public struct AttributeType: Hashable, Sendable {
  /// Its UUID; for the declaration of a service the service's.
  public var uuid: BluetoothUUID
  /// The service that has it, if that is known.
  public var service: BluetoothUUID?
  /// True if it is this machine's, false if it is the device's.
  public var isOwn: Bool
  /// The handle of its characteristic; nil if it is not one of the SIG's descriptors.
  public var characteristic: UInt16?
}

/// The types of attributes by their handles, as far as a recording has them.
///
/// | Input                        | Effect                                            |
/// |------------------------------|---------------------------------------------------|
/// | the answer to a discovery    | the types of the server's attributes are known    |
/// | a read by type               | likewise                                          |
/// | a note with attributes       | likewise, of its device                           |
/// | attributes found by handle   | those without a declaration before them are descriptors |
/// | more devices than there is room for | all are forgotten                          |
struct AttributeTypes: Sendable {
  /// The owner of attributes.
  enum Server: Hashable, Sendable {
    case device(DeviceAddress)
    case machine
  }

  private struct Table {
    var types: [UInt16: BluetoothUUID] = [:]
    /// The services by their first handle.
    var services: [UInt16: BluetoothUUID] = [:]
    /// The values that declarations name.
    var values: Set<UInt16> = []
    /// The descriptors, which may have any type.
    var descriptors: Set<UInt16> = []

    /// The handle of the characteristic that a descriptor belongs to: the value behind which it stands.
    func value(below descriptor: UInt16) -> UInt16? {
      types.lazy.filter { $0.key < descriptor && isValue($0.key, $0.value) }.map(\.key).max()
    }

    private func isValue(_ handle: UInt16, _ type: BluetoothUUID) -> Bool {
      !descriptors.contains(handle) && !isDescriptor(type) && !isDeclaration(type)
    }

    /// Adds an attribute found by its handle: a value follows its declaration (Core 5.4, Vol 3, Part G, 3.3.2).
    mutating func find(_ handle: UInt16, _ type: BluetoothUUID) {
      let follows = handle > 0 && types[handle - 1] == AttributeTypes.characteristic
      if !follows, !isDeclaration(type), !values.contains(handle) { descriptors.insert(handle) }
      types[handle] = type
    }

    /// Adds the value of a characteristic.
    mutating func declare(_ handle: UInt16, _ type: BluetoothUUID) {
      values.insert(handle)
      descriptors.remove(handle)
      types[handle] = type
    }
  }

  private static let maximumServers = 64
  private static let maximumAttributes = 4096
  private static let characteristic = BluetoothUUID(0x2803)
  private static let included = BluetoothUUID(0x2802)
  private var tables: [Server: Table] = [:]

  /// The type of an attribute; nil if it is not known.
  func type(of handle: UInt16, at server: Server) -> AttributeType? {
    guard let table = tables[server], let uuid = table.types[handle] ?? table.services[handle] else { return nil }
    let start = table.services.keys.filter { $0 <= handle }.max()
    return AttributeType(
      uuid: uuid, service: start.flatMap { table.services[$0] }, isOwn: server == .machine,
      characteristic: Self.isDescriptor(uuid) ? table.value(below: handle) : nil)
  }

  /// True for the SIG's descriptors (Assigned Numbers, 3.7).
  private static func isDescriptor(_ uuid: BluetoothUUID) -> Bool { uuid.short16.map { $0 >> 8 == 0x29 } ?? false }

  /// True for declarations (Assigned Numbers, 3.6).
  private static func isDeclaration(_ uuid: BluetoothUUID) -> Bool { uuid.short16.map { $0 >> 8 == 0x28 } ?? false }

  /// A note.
  mutating func receive(_ note: AttributeNote) {
    for attribute in note.attributes {
      change(.device(note.peer)) { table in
        switch attribute.kind {
        case .service: table.services[attribute.handle] = attribute.uuid
        case .value: table.declare(attribute.handle, attribute.uuid)
        case .descriptor: table.find(attribute.handle, attribute.uuid)
        }
      }
    }
  }

  /// A server answered a request.
  mutating func answered(_ request: ATTPDU, _ answer: ATTPDU, by server: Server) {
    switch (request, answer) {
    case (.readByGroupTypeRequest, .readByGroupTypeResponse(let size, let list)):
      for element in ElementList(list, size: size) {
        add(element.little16(at: 0), BluetoothUUID(littleEndian: element.dropFirst(4)), to: server) {
          $0.services[$1] = $2
        }
      }
    case (.findByTypeValueRequest(_, _, 0x2800, let value), .findByTypeValueResponse(let list)):
      let uuid = BluetoothUUID(littleEndian: value)
      for element in ElementList(list, size: 4) {
        add(element.little16(at: 0), uuid, to: server) { $0.services[$1] = $2 }
      }
    case (.readByTypeRequest(_, _, let type), .readByTypeResponse(let size, let list)):
      for element in ElementList(list, size: size) {
        switch type {
        case Self.characteristic:
          add(element.little16(at: 3), BluetoothUUID(littleEndian: element.dropFirst(5)), to: server) {
            $0.declare($1, $2)
          }
        case Self.included: continue
        default: add(element.little16(at: 0), type, to: server) { $0.types[$1] = $2 }
        }
      }
    case (.findInformationRequest, .findInformationResponse(let size, let list)):
      for element in ElementList(list, size: 2 + size) {
        add(element.little16(at: 0), BluetoothUUID(littleEndian: element.dropFirst(2)), to: server) { $0.find($1, $2) }
      }
    default: break
    }
  }

  private mutating func add(
    _ handle: UInt16?, _ uuid: BluetoothUUID?, to server: Server,
    _ change: (inout Table, UInt16, BluetoothUUID) -> Void
  ) {
    guard let handle, let uuid else { return }
    self.change(server) { change(&$0, handle, uuid) }
  }

  private mutating func change(_ server: Server, _ change: (inout Table) -> Void) {
    if tables[server] == nil, tables.count >= Self.maximumServers { tables = [:] }
    var table = tables.removeValue(forKey: server) ?? Table()
    if table.types.count + table.services.count >= Self.maximumAttributes { table = Table() }
    change(&table)
    tables[server] = table
  }
}
