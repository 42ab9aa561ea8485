/// The requested delivery (MQTT 5.0, 4.3); level 2 is not used.
package enum QualityOfService: UInt8, Hashable, Sendable {
  case atMostOnce = 0
  case atLeastOnce = 1
}

/// A message for the broker.
package struct OutgoingMessage: Hashable, Sendable {
  package var topic: String
  package var payload: [UInt8]
  package var quality: QualityOfService
  package var isRetained: Bool
  /// The correlation data of a request that it answers (MQTT 5.0, 3.3.2.3.6).
  package var correlation: [UInt8]?

  package init(
    topic: String, payload: [UInt8], quality: QualityOfService, isRetained: Bool = false, correlation: [UInt8]? = nil
  ) {
    self.topic = topic
    self.payload = payload
    self.quality = quality
    self.isRetained = isRetained
    self.correlation = correlation
  }
}

/// A message from the broker.
package struct IncomingMessage: Hashable, Sendable {
  package var topic: String
  package var payload: [UInt8]
  /// True if the broker had kept it: it was sent before this client subscribed.
  package var isRetained: Bool
  /// The topic to answer on (MQTT 5.0, 3.3.2.3.5).
  package var responseTopic: String?
  /// The octets to send with the answer.
  package var correlation: [UInt8]?

  package init(
    topic: String, payload: [UInt8], isRetained: Bool = false, responseTopic: String? = nil,
    correlation: [UInt8]? = nil
  ) {
    self.topic = topic
    self.payload = payload
    self.isRetained = isRetained
    self.responseTopic = responseTopic
    self.correlation = correlation
  }
}
