import ATT
import Bluetooth

/// A device's attributes, as far as disclosed by its answers to requests.
///
/// | Input                               | Knowledge                                                     |
/// |-------------------------------------|---------------------------------------------------------------|
/// | the answer to a discovery           | services, included services, characteristics, descriptors     |
/// | the answer to a read                | a value and its time; a long one piece by piece               |
/// | a notification or an indication     | a value and its time since the one before                     |
/// | an error for lack of protection     | the protection that the operation asks for                    |
/// | a subscription that was accepted    | the time from which the first notification is counted         |
struct AttributeRecord: Sendable {
  typealias Level = RecordedDevice.Security.Level

  struct Group {
    var end: UInt16
    var uuid: BluetoothUUID
    var isPrimary: Bool
  }

  struct Declaration {
    var properties: UInt8
    var value: UInt16
    var uuid: BluetoothUUID
  }

  /// An attribute's values.
  struct Values {
    var read: [RecordedDevice.Value] = []
    var sent: [RecordedDevice.Value] = []
    /// The time of the last one sent, or of the subscription, in microseconds.
    var lastSent: Int64?
  }

  static let configuration = BluetoothUUID(0x2902)
  /// The maximum number of values for each device.
  private static let maximumValues = 20_000

  private(set) var groups: [UInt16: Group] = [:]
  /// The first handles of included services, by declaration handle.
  private(set) var includes: [UInt16: UInt16] = [:]
  private(set) var declarations: [UInt16: Declaration] = [:]
  /// The types of attributes from Find Information.
  private(set) var types: [UInt16: BluetoothUUID] = [:]
  private(set) var values: [UInt16: Values] = [:]
  private(set) var readLevels: [UInt16: Level] = [:]
  private(set) var writeLevels: [UInt16: Level] = [:]
  /// The number of values not kept.
  private(set) var valuesLeftOut = 0
  private var valueCount = 0

  // MARK: Discovery

  mutating func service(_ start: UInt16, _ end: UInt16, _ uuid: BluetoothUUID, isPrimary: Bool) {
    groups[start] = Group(end: end, uuid: uuid, isPrimary: isPrimary)
  }

  mutating func included(_ handle: UInt16, start: UInt16) { includes[handle] = start }

  mutating func characteristic(_ handle: UInt16, _ octets: ArraySlice<UInt8>) {
    guard let properties = octets.first, let value = octets.little16(at: 1),
      let uuid = BluetoothUUID(littleEndian: octets.dropFirst(3))
    else { return }
    declarations[handle] = Declaration(properties: properties, value: value, uuid: uuid)
  }

  mutating func attribute(_ handle: UInt16, _ uuid: BluetoothUUID) { types[handle] = uuid }

  // MARK: Values

  /// A value, or its first piece, was read.
  /// - Parameter time: In seconds since the link was established.
  mutating func wasRead(_ handle: UInt16, _ octets: ArraySlice<UInt8>, at time: Double) {
    guard values[handle]?.read.last?.octets != Array(octets), isRoom else { return }
    values[handle, default: Values()].read.append(.init(time: time, octets: Array(octets)))
  }

  /// A further piece of the last read value.
  mutating func wasRead(_ handle: UInt16, further octets: ArraySlice<UInt8>, from offset: Int) {
    guard let last = values[handle]?.read.indices.last, values[handle]?.read[last].octets.count == offset,
      offset + octets.count <= 512
    else { return }
    values[handle]?.read[last].octets += octets
  }

  /// A value was notified or indicated.
  /// - Parameters:
  ///   - time: In microseconds.
  ///   - linkUp: The time when the link was established, likewise.
  mutating func wasSent(_ handle: UInt16, _ octets: ArraySlice<UInt8>, at time: Int64, linkUp: Int64) {
    guard isRoom else { return }
    let before = values[handle]?.lastSent ?? linkUp
    let gap = max(0, Double(time &- before) / 1_000_000)
    values[handle, default: Values()].sent.append(.init(time: gap, octets: Array(octets)))
    values[handle]?.lastSent = time
  }

  /// A client wrote an attribute, which may be a configuration: then the next value is counted from here.
  mutating func wasWritten(_ handle: UInt16, at time: Int64) {
    guard types[handle] == nil || types[handle] == Self.configuration,
      !declarations.values.contains(where: { $0.value == handle }),
      let value = value(configuredBy: handle)
    else { return }
    values[value, default: Values()].lastSent = time
  }

  /// A link was established: requests on an earlier one do not count.
  mutating func linkBegan(at time: Int64) {
    for handle in values.keys { values[handle]?.lastSent = nil }
  }

  /// True if a further value is kept; counts both.
  private var isRoom: Bool {
    mutating get {
      guard valueCount < Self.maximumValues else {
        valuesLeftOut += 1
        return false
      }
      valueCount += 1
      return true
    }
  }

  // MARK: Protection

  /// A request was refused for lack of protection.
  mutating func wasRefused(_ handle: UInt16, isRead: Bool, level: Level) {
    if isRead {
      readLevels[handle] = max(readLevels[handle] ?? .none, level)
    } else {
      writeLevels[handle] = max(writeLevels[handle] ?? .none, level)
    }
  }

  /// The value handle for a configuration: that of the last characteristic before it.
  private func value(configuredBy handle: UInt16) -> UInt16? {
    declarations.filter { $0.value.value < handle }.max { $0.key < $1.key }?.value.value
  }
}
