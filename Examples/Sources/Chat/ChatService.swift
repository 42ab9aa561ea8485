import CoreBluetooth

/// The service of a chat: the host sends lines through one characteristic and receives them through another.
@MainActor
enum ChatService {
  static let uuid = CBUUID(string: "C4A70001-8D5E-4B1E-9D00-2F4C1B1ED000")
  /// From the host to its guests.
  static let fromHost = CBUUID(string: "C4A70002-8D5E-4B1E-9D00-2F4C1B1ED000")
  /// From a guest to the host.
  static let toHost = CBUUID(string: "C4A70003-8D5E-4B1E-9D00-2F4C1B1ED000")
}

/// One side of a chat.
@MainActor
protocol ChatPartner: AnyObject {
  func start()
  /// Sends a line to the other side.
  func send(_ line: String)
}
