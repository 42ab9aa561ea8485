import Bluetooth
import JSONFiles

/// A device answers reads or writes of a characteristic late, or with an error.
package struct AnswerFault: ReadableFromFile, Sendable {
  /// The requests that it concerns.
  package enum Request: String, CaseIterable, Sendable { case read, write }

  /// The characteristic; nil for all.
  package var characteristic: BluetoothUUID?
  /// Reads or writes; nil for both.
  package var request: Request?
  /// The ATT error code that answers a request; nil for the usual answer.
  package var error: UInt8?
  /// The delay of the answer.
  package var delay: TimeSpan
  /// The number of requests answered so; nil for all.
  package var count: Int?

  private enum Keys: String, CaseIterable { case characteristic, request, error, delay, count }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    characteristic = try members.optional(.characteristic)
    request = try members.optional(.request) { value throws(FileError) in try value.word() }
    error = try members.optional(.error) { value throws(FileError) in try value.integer(in: 1...255) }
    delay = try members.value(.delay, default: TimeSpan(0))
    count = try members.optional(.count) { value throws(FileError) in try value.integer(in: 1...1_000_000) }
  }

  /// True if a request of this characteristic is answered so.
  fileprivate func concerns(_ request: Request, of characteristic: BluetoothUUID) -> Bool {
    count != 0 && (self.request ?? request) == request && (self.characteristic ?? characteristic) == characteristic
  }
}

/// The faults of a device's answers.
///
/// | Input     | Effect                                                                         |
/// |-----------|--------------------------------------------------------------------------------|
/// | a request | the first fault that concerns it gives the answer, and is used up by its count |
package struct AnswerFaults: Sendable {
  private var faults: [AnswerFault]

  package init(_ faults: [AnswerFault]) { self.faults = faults }

  /// A request of a characteristic.
  /// - Parameter generator: Draws the delay.
  /// - Returns: the delay of the answer, and the error that answers it; nil without a fault.
  package mutating func answer(
    _ request: AnswerFault.Request, of characteristic: BluetoothUUID, _ generator: inout SeededGenerator
  ) -> (delay: Duration, error: UInt8?)? {
    guard let index = faults.firstIndex(where: { $0.concerns(request, of: characteristic) }) else { return nil }
    if let count = faults[index].count { faults[index].count = count - 1 }
    return (faults[index].delay.draw(&generator), faults[index].error)
  }
}
