import BledRPC
import Bluetooth
import ValueFormats

/// The descriptions by which Home Assistant finds the numbers of subscribed characteristics (MQTT discovery), retained
/// by the broker.
struct ValueDiscovery {
  private struct Description {
    /// The characteristic to which the topic belongs: a device may have several with one UUID.
    let handle: UInt16
    let title: String
    let unit: String?
    let message: OutgoingMessage
    var changes = 0
  }

  /// Maximum described numbers; later ones are not described.
  private static let maximum = 1024
  /// Maximum changes of a description: a device may give another unit with each value.
  private static let maximumChanges = 8

  private let prefix: String
  private let topics: Topics
  /// By their topics.
  private var described: [String: Description] = [:]

  /// - Parameter prefix: The topic of Home Assistant's discovery.
  init(prefix: String, topics: Topics) { (self.prefix, self.topics) = (prefix, topics) }

  /// The descriptions of a value's numbers that have not been described before, or otherwise.
  mutating func messages(for value: ValuePayload) -> [OutgoingMessage] {
    guard let meaning = value.meaning else { return [] }
    var new: [OutgoingMessage] = []
    if meaning.fields.isEmpty {
      if meaning.number != nil { describe(value, nil, meaning.unit, &new) }
    } else {
      for field in meaning.fields {
        if case .number = field.content { describe(value, field.name, field.unit, &new) }
      }
    }
    return new
  }

  /// The descriptions of all that is known: the broker may have lost them.
  func all() -> [OutgoingMessage] { described.values.map(\.message).sorted { $0.topic < $1.topic } }

  private mutating func describe(
    _ value: ValuePayload, _ field: String?, _ unit: String?, _ new: inout [OutgoingMessage]
  ) {
    // Home Assistant accepts letters, digits, dashes and underscores, and the template has the name in quotation marks.
    guard field?.utf8.allSatisfy(Self.isPlain) ?? true else { return }
    let level = Topics.level(of: value.address)
    let identifier = "\(level)-\(value.characteristic)" + (field.map { "-\($0)" } ?? "")
    let topic = "\(prefix)/sensor/\(identifier)/config"
    let title = value.title ?? value.characteristic.knownName ?? "\(value.characteristic)"
    let known = described[topic]
    if let known {
      guard known.title != title || known.unit != unit, known.handle == value.handle,
        known.changes < Self.maximumChanges
      else { return }
    } else {
      guard described.count < Self.maximum else { return }
    }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("name", [title, field].compactMap { $0 }.joined(separator: " "))
      writer.member("unique_id", identifier)
      writer.member("state_topic", "\(topics.anyGateway(value.address))/\(value.characteristic)")
      writer.member("value_template", "{{ value_json.\(field.map { "fields['\($0)']" } ?? "number") }}")
      if let unit, !unit.isEmpty { writer.member("unit_of_measurement", unit) }
      writer.member("state_class", "measurement")
      writer.name("device")
      writer.object { writer in
        writer.name("identifiers")
        writer.array { $0.element(level) }
        writer.member("name", value.name ?? value.naming.list.name(ofDevice: "\(value.address)") ?? "\(value.address)")
      }
    }
    let message = OutgoingMessage(topic: topic, payload: writer.codes, quality: .atLeastOnce, isRetained: true)
    described[topic] = Description(
      handle: value.handle, title: title, unit: unit, message: message, changes: known.map { $0.changes + 1 } ?? 0)
    new.append(message)
  }

  private static func isPlain(_ octet: UInt8) -> Bool {
    switch octet {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
