import BledRPC
import FoundationEssentials
import Fuzzing
import MQTTGateway

/// A broker's connection, which looks at each message that is handed to it.
final class FuzzBroker: Broker {
  /// The confirmations that are owed at most.
  private static let window = 64

  /// The result of the next messages; `.handed` has its own number.
  var refuses = false
  private(set) var isConnected = true
  private(set) var owed: [Int32] = []
  private var last: Int32 = 0
  private let check: (OutgoingMessage) -> Void

  init(_ check: @escaping (OutgoingMessage) -> Void) { self.check = check }

  func publish(_ message: OutgoingMessage) -> Handover {
    guard isConnected else { return .notConnected }
    check(message)
    if refuses { return .refused }
    last += 1
    owed.append(last)
    invariant(owed.count <= Self.window, "\(owed.count) messages without a confirmation")
    return .handed(last)
  }

  func disconnect() { isConnected = false }

  /// Takes a number that was handed over and not yet confirmed.
  func confirm(_ place: Int) -> Int32? {
    owed.isEmpty ? nil : owed.remove(at: place % owed.count)
  }

  /// Confirms any number, owed or not.
  func confirm(number: Int32) { owed.removeAll { $0 == number } }
}
