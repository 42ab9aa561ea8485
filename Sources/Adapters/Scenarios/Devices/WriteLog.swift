import Bluetooth

/// The newest writes to simulated devices.
public struct WriteLog: Sendable {
  /// The kind of a write.
  public enum Operation: String, Sendable { case write, writeWithoutResponse, subscribe }

  /// One write.
  public struct Entry: Hashable, Sendable {
    /// Its number, from 1 on.
    public let number: Int
    /// The time, in seconds since 1970.
    public let time: Double
    /// The name of the device.
    public let device: String
    /// The characteristic.
    public let characteristic: BluetoothUUID
    /// The kind of the write; subscribing writes the Client Characteristic Configuration.
    public let operation: Operation
    /// The octets.
    public let value: [UInt8]
  }

  /// Maximum entries kept.
  private static let capacity = 1000
  private var entries: [Entry] = []
  private var next = 0

  package mutating func add(
    _ operation: Operation, _ device: String, _ characteristic: BluetoothUUID, _ value: [UInt8], _ time: Double
  ) {
    let entry = Entry(
      number: next + 1, time: time, device: device, characteristic: characteristic, operation: operation, value: value)
    if entries.count < Self.capacity { entries.append(entry) } else { entries[next % Self.capacity] = entry }
    next += 1
  }

  /// The entries with a higher number, the first one first.
  /// - Parameters:
  ///   - device: the name of the device; nil for all.
  ///   - limit: the maximum number.
  public func entries(after number: Int, device: String?, limit: Int) -> [Entry] {
    let start = max(0, number, next - entries.count)
    var found: [Entry] = []
    var place = start
    while place < next, found.count < limit {
      let entry = entries[place % Self.capacity]
      if device.map({ $0.utf8.elementsEqual(entry.device.utf8) }) ?? true { found.append(entry) }
      place += 1
    }
    return found
  }
}
