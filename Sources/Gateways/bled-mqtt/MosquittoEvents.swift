import CMosquitto
import Glibc
import MQTTGateway

/// The events that libmosquitto reports through its callbacks, in order, until they are taken.
///
/// A callback is called from inside a call of libmosquitto; during `mosquitto_connect` on the thread of the worker,
/// which hands everything back before any event is taken.
final class MosquittoEvents {
  enum Event {
    /// The broker has answered the request to connect; nil: it accepts.
    case connected(refusal: Refusal?)
    /// A message is sent, or acknowledged.
    case published(Int32, isRefused: Bool)
    case received(IncomingMessage)
    case subscribed(isRefused: Bool)
    /// The broker ends the connection, with its reason (MQTT 5.0, 3.14).
    case dismissed(reason: Int32)
  }

  /// The broker's reason to refuse a connection.
  struct Refusal {
    let text: String
    /// True if it does not speak this version of the protocol.
    let concernsVersion: Bool
  }

  /// The longest topic of a message that is read, in octets.
  private static let longestTopic = 1024

  fileprivate var events: [Event] = []
  /// The last error of the connection, such as one of TLS.
  private(set) var error: String?
  fileprivate let isVersion5: Bool

  init(isVersion5: Bool) { self.isVersion5 = isVersion5 }

  /// The events since the last call.
  func take() -> [Event] {
    defer { events.removeAll(keepingCapacity: true) }
    return events
  }

  /// Makes a client report these events.
  func attach(to client: OpaquePointer) {
    mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
    mosquitto_connect_v5_callback_set(client) { _, context, code, _, _ in
      MosquittoEvents.from(context)?.connected(code)
    }
    mosquitto_publish_v5_callback_set(client) { _, context, number, code, _ in
      MosquittoEvents.from(context)?.events.append(.published(number, isRefused: code >= 0x80))
    }
    mosquitto_message_v5_callback_set(client) { _, context, message, properties in
      guard let message else { return }
      MosquittoEvents.from(context)?.received(message.pointee, properties)
    }
    mosquitto_subscribe_v5_callback_set(client) { _, context, _, count, granted, _ in
      let isRefused = count < 1 || (granted?.pointee ?? 0x80) >= 0x80
      MosquittoEvents.from(context)?.events.append(.subscribed(isRefused: isRefused))
    }
    mosquitto_disconnect_v5_callback_set(client) { _, context, code, _ in
      // Lower codes are libmosquitto's own.
      if code >= 0x80 { MosquittoEvents.from(context)?.events.append(.dismissed(reason: code)) }
    }
    mosquitto_log_callback_set(client) { _, context, level, text in
      guard level == MOSQ_LOG_ERR, let text else { return }
      MosquittoEvents.from(context)?.error = String(cString: text)
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> MosquittoEvents? {
    context.map { Unmanaged<MosquittoEvents>.fromOpaque($0).takeUnretainedValue() }
  }

  private func connected(_ code: Int32) {
    guard code != 0 else { return events.append(.connected(refusal: nil)) }
    let text = isVersion5 ? mosquitto_reason_string(code) : mosquitto_connack_string(code)
    // A broker without MQTT 5 answers in the form of 3.1.1, which libmosquitto translates (MQTT 5.0, 3.1.2.2).
    let version = isVersion5 ? Int32(MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue) : 1
    events.append(
      .connected(
        refusal: Refusal(
          text: text.map { String(cString: $0) } ?? "reason \(code)", concernsVersion: code == version)))
  }

  private func received(_ message: mosquitto_message, _ properties: OpaquePointer?) {
    guard let topic = message.topic, strnlen(topic, Self.longestTopic + 1) <= Self.longestTopic else { return }
    // More than the longest command is refused.
    let count = min(Int(max(0, message.payloadlen)), Command.longest + 1)
    let payload = message.payload.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
    events.append(
      .received(
        IncomingMessage(
          topic: String(cString: topic), payload: payload, isRetained: message.retain,
          responseTopic: MosquittoProperties.responseTopic(of: properties),
          correlation: MosquittoProperties.correlation(of: properties))))
  }
}
