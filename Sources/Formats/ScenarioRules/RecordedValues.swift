import Bluetooth
import JSONFiles

/// The values of a characteristic in a recording.
package struct RecordedValues: Hashable, Sendable {
  /// A value that reads return from this time on a link.
  package struct Read: ReadableFromFile, Hashable, Sendable {
    package var at: Duration
    package var value: [UInt8]

    private enum Keys: String, CaseIterable { case at, value }

    package init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      at = try members.seconds(.at, in: 0...86_400)
      self.value = try members.recordedValue(.value)
    }
  }

  /// A value sent this long after the previous one; the first after the subscription.
  package struct Sent: ReadableFromFile, Hashable, Sendable {
    package var after: Duration
    package var value: [UInt8]

    private enum Keys: String, CaseIterable { case after, value }

    package init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      after = try members.seconds(.after, in: 0...86_400)
      self.value = try members.recordedValue(.value)
    }
  }

  /// In the order of the file.
  package var read: [Read]
  /// In the order of the file; the first follows the last.
  package var sent: [Sent]

  package init(read: [Read], sent: [Sent]) { (self.read, self.sent) = (read, sent) }
}

extension FileMembers {
  fileprivate func recordedValue(_ name: Name) throws(FileError) -> [UInt8] {
    try value(name).octets(atMost: ValueDescription.longest)
  }
}
