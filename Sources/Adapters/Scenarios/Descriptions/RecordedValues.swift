import Bluetooth
import JSONFiles

/// The values of a characteristic in a recording.
struct RecordedValues: Hashable, Sendable {
  /// A value that reads return from this time on a link.
  struct Read: ReadableFromFile, Hashable, Sendable {
    var at: Duration
    var value: [UInt8]

    private enum Keys: String, CaseIterable { case at, value }

    init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      at = try members.seconds(.at, in: 0...86_400)
      self.value = try members.recordedValue(.value)
    }
  }

  /// A value sent this long after the previous one; the first after the subscription.
  struct Sent: ReadableFromFile, Hashable, Sendable {
    var after: Duration
    var value: [UInt8]

    private enum Keys: String, CaseIterable { case after, value }

    init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      after = try members.seconds(.after, in: 0...86_400)
      self.value = try members.recordedValue(.value)
    }
  }

  /// In the order of the file.
  var read: [Read]
  /// In the order of the file; the first follows the last.
  var sent: [Sent]
}

extension FileMembers {
  fileprivate func recordedValue(_ name: Name) throws(FileError) -> [UInt8] {
    try value(name).octets(atMost: ValueDescription.longest)
  }
}
