import Bluetooth
import MQTTGateway
import Testing

/// The order of the broker's addresses, and the pauses between attempts.
@Suite struct ReconnectionTests {
  private let nodes = (1...3).map { BrokerAddress(host: "mq-\($0).example", port: 1883) }

  private func reconnection(_ addresses: [BrokerAddress], gateway: String = "kitchen", version: String? = nil) throws
    -> Reconnection
  {
    let hosts = addresses.map { "\"\($0)\"" }.joined(separator: ", ")
    let chosen = version.map { ", \"version\": \"\($0)\"" } ?? ", \"tls\": true"
    let text = "{ \"broker\": { \"host\": [\(hosts)]\(chosen) } }"
    let configuration = try GatewayConfiguration(Array(text.utf8), file: "mqtt.json", hostName: "x")
    return Reconnection(configuration.broker, gateway: gateway)
  }

  @Test("one address: 1 s, 2 s, up to 30 s, and half as long again at most")
  func oneAddress() throws {
    var one = try reconnection([nodes[0]])
    #expect(!one.hasOthers)
    for chance in [0, 1] as [Double] {
      #expect(one.lost(isTakenOver: false, chance: chance) == .seconds(1 + chance / 2))
      one.settled()
    }
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
      #expect(one.failed(chance: 0) == .seconds(seconds) && one.address == nodes[0])
    }
    #expect(one.failed(chance: 7) == .seconds(45))
    one.succeeded()
    #expect(one.failed(chance: 0) == .seconds(1))
  }

  @Test("each address in turn, then a longer pause; after a connection the first again")
  func turns() throws {
    var three = try reconnection(nodes)
    let first = three.address
    var seen: [BrokerAddress] = []
    for round in 0..<3 {
      for _ in 0..<2 {
        seen.append(three.address)
        #expect(three.failed(chance: 0.5) == .seconds(0.5))
      }
      seen.append(three.address)
      #expect(three.failed(chance: 0) == .seconds(1 << round))
    }
    #expect(Set(seen) == Set(nodes) && seen.prefix(3) == seen.suffix(3) && seen.first == first)
    _ = three.failed(chance: 0)
    #expect(three.address != first)
    three.succeeded()
    #expect(three.address == first && three.lost(isTakenOver: false, chance: 0) == .seconds(1))
    #expect(three.address == first)
  }

  @Test("connections that are lost again and again have longer pauses, until one lasts")
  func contested() throws {
    var one = try reconnection([nodes[0]])
    for (place, seconds) in [1, 2, 4, 8, 16, 30, 30].enumerated() {
      #expect(one.isContested == (place >= 3))
      one.succeeded()
      #expect(one.lost(isTakenOver: false, chance: 0) == .seconds(seconds))
    }
    one.settled()
    #expect(!one.isContested && one.lost(isTakenOver: false, chance: 0) == .seconds(1))
  }

  @Test("a connection that another client takes over is contested at once, until one lasts")
  func takenOver() throws {
    var one = try reconnection([nodes[0]])
    #expect(one.lost(isTakenOver: true, chance: 0) == .seconds(1) && one.isContested)
    #expect(one.lost(isTakenOver: false, chance: 0) == .seconds(2) && one.isContested)
    one.settled()
    #expect(!one.isContested)
  }

  @Test("gateways spread over the nodes, and those of a lost node over the others, on every machine alike")
  func spread() throws {
    var pairs: [[BrokerAddress]: Int] = [:]
    for number in 0..<600 {
      var gateway = try reconnection(nodes, gateway: "gateway-\(number)")
      let first = gateway.address
      _ = gateway.failed(chance: 0)
      pairs[[first, gateway.address], default: 0] += 1
      let turned = try reconnection(nodes.reversed(), gateway: "gateway-\(number)")
      #expect(turned.address == first)
    }
    #expect(pairs.count == 6 && pairs.values.allSatisfy { 70...130 ~= $0 }, "\(pairs)")
  }

  @Test("a broker that refuses MQTT 5 gets 3.1.1, unless the version was chosen")
  func versions() throws {
    var open = try reconnection(nodes)
    let first = open.address
    #expect(open.version == .v5 && open.versionRefused(chance: 0.25) == .seconds(0.25))
    #expect(open.version == .v311 && open.address == first)
    _ = open.versionRefused(chance: 0)
    #expect(open.address != first && open.version == .v311)
    var chosen = try reconnection(nodes, version: "5")
    _ = chosen.versionRefused(chance: 0)
    #expect(chosen.version == .v5 && chosen.address != first)
  }
}
