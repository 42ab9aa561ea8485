/// The connection to the broker, while there is one.
package protocol Broker: AnyObject {
  /// Hands over a message. `BrokerQueue.confirmed` follows once it is sent or, with a quality of service of 1,
  /// acknowledged; never from inside this call.
  func publish(_ message: OutgoingMessage) -> Handover
}

/// The result of handing a message to the broker's connection.
package enum Handover: Hashable, Sendable {
  /// With the number of its confirmation.
  case handed(Int32)
  /// The broker accepts no such message: it is too long, for instance.
  case refused
  /// The connection has ended, which is reported separately.
  case notConnected
}
