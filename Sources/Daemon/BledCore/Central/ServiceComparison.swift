import Bluetooth
import GATT

/// All attributes of a device, discovered once more: its services have changed, and the device did not name them.
struct ServiceComparison {
  private let known: KnownAttributes
  private var found = KnownAttributes()
  private var machine = DiscoveryMachine(.everything)

  /// - Parameter known: the attributes before, as far as they were discovered.
  init(with known: KnownAttributes) { self.known = known }

  /// Adds the result of the procedure that was asked for last.
  /// - Returns: the next procedure; nil when all attributes are discovered.
  /// - Throws: a failure of the device to describe them.
  mutating func next(_ result: Result<GATTResult, BluetoothError>?) throws -> GATTProcedure? {
    switch result {
    case .success(let part)?: try machine.receive(part, &found)
    case .failure(let error)?: try machine.receive(error, &found)
    case nil: break
    }
    return try machine.next(found, isVerified: true, hasCache: false)
  }

  /// The handles from the first to the last service that is gone, new or different, as far as programs know services or
  /// have looked for them; nil if the known attributes are as before.
  var change: ClosedRange<UInt16>? {
    let changed = known.services.filter { !known.isSame($0, in: found) } + known.additions(in: found)
    guard let start = changed.map(\.range.lowerBound).min(), let end = changed.map(\.range.upperBound).max() else {
      return nil
    }
    return start...end
  }

  /// True if the known attributes are still the compared ones.
  func isCurrent(_ known: KnownAttributes) -> Bool { known.epoch == self.known.epoch }
}
