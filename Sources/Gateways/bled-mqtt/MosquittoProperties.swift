import CMosquitto
import Glibc
import MQTTGateway

/// The properties of MQTT 5 that are read and written.
enum MosquittoProperties {
  /// The longest correlation data that are sent back, in octets.
  private static let longestCorrelation = 1024

  static func responseTopic(of properties: OpaquePointer?) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard let properties,
      mosquitto_property_read_string(properties, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), &text, false) != nil,
      let text
    else { return nil }
    defer { free(text) }
    return String(cString: text)
  }

  static func correlation(of properties: OpaquePointer?) -> [UInt8]? {
    var octets: UnsafeMutableRawPointer?
    var count: UInt16 = 0
    guard let properties,
      mosquitto_property_read_binary(
        properties, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), &octets, &count, false) != nil,
      let octets
    else { return nil }
    defer { free(octets) }
    guard count <= longestCorrelation else { return nil }
    return Array(UnsafeRawBufferPointer(start: octets, count: Int(count)))
  }

  /// Calls `body` with the properties of an answer; nil if there are none.
  static func withCorrelation<Result>(_ correlation: [UInt8]?, _ body: (OpaquePointer?) -> Result) -> Result {
    guard let correlation, let count = UInt16(exactly: correlation.count) else { return body(nil) }
    var list: OpaquePointer?
    correlation.withUnsafeBytes {
      _ = mosquitto_property_add_binary(&list, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), $0.baseAddress, count)
    }
    defer { mosquitto_property_free_all(&list) }
    return body(list)
  }

  /// Calls `body` with the properties of a connect request that limits packets to this length, in octets.
  static func withMaximumPacket<Result>(_ maximum: UInt32, _ body: (OpaquePointer?) -> Result) -> Result {
    var list: OpaquePointer?
    mosquitto_property_add_int32(&list, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), maximum)
    defer { mosquitto_property_free_all(&list) }
    return body(list)
  }
}
