import Bluetooth
import JSONFiles
import MQTTGateway
import Testing

struct GatewayConfigurationTests {
  private func read(_ text: String) throws -> GatewayConfiguration {
    try GatewayConfiguration(Array(text.utf8), file: "mqtt.json", hostName: "kitchen")
  }

  @Test func aBrokerIsEnough() throws {
    let configuration = try read(#"{ "broker": { "host": "broker.example" } }"#)
    #expect(configuration.topics == Topics(base: "home", gateway: "kitchen"))
    #expect(configuration.broker.addresses.map(\.port) == [1883] && configuration.broker.version == .v311)
    #expect(configuration.quality == .atMostOnce && configuration.commands.isEmpty && configuration.devices.isEmpty)
    #expect(configuration.discovery == "homeassistant" && configuration.publishesUndecoded && !configuration.isSecret)
  }

  /// An invalid property of MQTT 5 ends libmosquitto's process: only the broker itself may send them.
  @Test(arguments: [
    (#""host": "localhost""#, true), (#""host": "127.0.0.1""#, true), (#""host": "::1""#, true),
    (#""host": "127.example""#, false), (#""host": "broker.example""#, false),
    (#""host": "broker.example", "tls": true"#, true), (#""host": "broker.example", "version": "5""#, true),
    (#""host": "localhost", "version": "3.1.1""#, false),
  ])
  func versionFiveNeedsATrustedWay(_ broker: String, _ isVersion5: Bool) throws {
    let settings = try read("{ \"broker\": { \(broker) } }").broker
    #expect(settings.version == (isVersion5 ? .v5 : .v311))
    #expect(settings.isOlderByDefault == (!isVersion5 && !broker.contains("version")))
  }

  @Test func severalAddresses() throws {
    let broker = try read(
      #"{ "broker": { "host": ["a", "b:1884", "::1", "[fe80::1%eth0]:9", "[::2]"], "port": 1885 } }"#
    ).broker
    #expect(
      broker.addresses.map(\.description) == ["a:1885", "b:1884", "[::1]:1885", "[fe80::1%eth0]:9", "[::2]:1885"])
    #expect(broker.addresses.map(\.host) == ["a", "b", "::1", "fe80::1%eth0", "::2"] && broker.version == .v311)
    #expect(try read(#"{ "broker": { "host": ["127.0.0.1:1", "127.0.0.1:2"] } }"#).broker.version == .v5)
    #expect(try read(#"{ "broker": { "host": ["localhost", "b"] } }"#).broker.version == .v311)
  }

  @Test func everythingCanBeSet() throws {
    let configuration = try read(
      """
      {
        "broker": { "host": "::1", "tls": { "ca": "/ca", "certificate": "/c", "key": "/k" }, "credentials": "/p",
                    "version": "3.1.1", "keepAlive": 10, "client": "x" },
        "base": "site/hall", "gateway": "hall-1", "qos": 1, "undecoded": false, "discovery": false, "spool": 64,
        "publish": { "every": 0, "interval": 5, "devices": 100, "total": 50 },
        "scan": { "active": false, "adapter": "hci1", "rssi": -90,
                  "keys": { "54:48:E6:8F:80:A5": "231d39c1d7cc1ab1aee224cd096db932" } },
        "devices": [{ "address": "C0:DE:00:00:00:01", "addressType": "random", "name": "belt",
                      "subscribe": ["2A37", { "service": "180F", "characteristic": "2A19" }] }],
        "commands": ["read", "scan"],
      }
      """)
    #expect(configuration.broker.addresses.map(\.port) == [8883] && configuration.broker.tls?.certificate == "/c")
    #expect(configuration.publish.every == nil && configuration.publish.interval == .seconds(5))
    #expect(configuration.discovery == nil && configuration.spoolLimit == 64 << 20 && configuration.isSecret)
    let device = try #require(configuration.devices.first)
    #expect(device.characteristics.map(\.characteristic) == [0x2A37, 0x2A19] && device.hasType)
    #expect(device.characteristics.map(\.service) == [nil, 0x180F])
    #expect(configuration.commands == [.read, .scan])
  }

  @Test(arguments: [
    (#"{ "base": "x" }"#, "mqtt.json:1:1: \"broker\" is missing: add it"),
    (#"{ "broker": { "host": "a b" } }"#, "mqtt.json:1:23: broker.host: give the name"),
    (#"{ "broker": { "host": [] } }"#, "broker.host: give 1 to 8"),
    (#"{ "broker": { "host": ["a", "a:1883"] } }"#, "broker.host[1]: this address is in the list already"),
    (#"{ "broker": { "host": "a:0" } }"#, "broker.host: give the name"),
    (#"{ "broker": { "host": ["[::1"] } }"#, "broker.host[0]: give the name"),
    ("{ \"broker\": { \"host\": \"a\" },\n  \"gateway\": \"a/b\" }", "mqtt.json:2:14: gateway: give this gateway"),
    (#"{ "broker": { "host": "a" }, "qos": 2 }"#, "mqtt.json:1:37: qos: 2.0 is not valid: give a whole number"),
    (#"{ "broker": { "host": "a", "tls": { "key": "/k" } } }"#, "broker.tls: give both"),
    (#"{ "broker": { "host": "a", "tls": { "ca": "k" } } }"#, "broker.tls.ca: give an absolute path"),
    (#"{ "broker": { "host": "a" }, "commands": ["fly"] }"#, "commands[0]: \"fly\" is not valid: give one of"),
    (
      #"{ "broker": { "host": "a" }, "devices": [{ "address": "x", "subscribe": ["2A37"] }] }"#,
      "devices[0].address: give six"
    ),
    (#"{ "broker": { "host": "a" }, "colour": 1 }"#, "colour: this name is not known"),
    (#"{ "broker": { "host": "a" }, "scan": { "keys": { "54:48:E6:8F:80:A5": "00" } } }"#, "give the 16 octets"),
  ])
  func errorsNameThePlace(_ text: String, _ message: String) {
    #expect {
      try read(text)
    } throws: { error in
      "\(error)".contains(message)
    }
  }
}
