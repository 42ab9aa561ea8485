import BledRPC
import Bluetooth
import Testing

@testable import BledCore

@Suite("Words that are not known") struct RefusedWordTests {
  private static let characteristic = #"{"service":{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":"#

  @Test(
    "a call with one is refused before anything is done",
    arguments: [
      ("advertising.start", #"{"directedTo":"C0:00:00:00:00:01","directedToType":"odd"}"#),
      ("advertising.start", #"{"extended":true,"primaryPHY":"2M"}"#),
      ("advertising.start", #"{"extended":true,"secondaryPHY":"3M"}"#),
      ("capture.start", #"{"format":"pcap"}"#),
      ("l2cap.publish", #"{"security":"strong"}"#),
      ("l2cap.publish", #"{"mode":"basic"}"#),
      ("pairing.register", #"{"capability":"nose"}"#),
      ("pairing.setOutOfBand", #"{"address":"C0:00:00:00:00:01","addressType":"classic"}"#),
      ("peripheral.connect", #"{"address":"C0:00:00:00:00:01","addressType":"odd"}"#),
      ("peripheral.connect", #"{"address":"C0:00:00:00:00:01","phy":"3M"}"#),
      ("peripheral.disconnect", #"{"address":"C0:00:00:00:00:01","addressType":"odd"}"#),
      ("peripheral.pair", #"{"peripheral":"P","level":"none"}"#),
      ("peripheral.setPHY", #"{"peripheral":"P","phy":"3M"}"#),
      ("periodic.sync", #"{"peripheral":"C0:00:00:00:00:01","addressType":"odd"}"#),
      ("scan.start", #"{"phys":["2M"]}"#),
      ("scan.start", #"{"filters":[{"addressKinds":["static"]}]}"#),
      ("server.setLatency", #"{"central":"P","latency":"none"}"#),
      ("service.add", characteristic + #"["fly"]}]}}"#),
      ("service.add", characteristic + #"["read"],"permissions":["always"]}]}}"#),
      (
        "service.add",
        characteristic + #"["read"],"descriptors":[{"uuid":"2904","value":"","permissions":["always"]}]}]}}"#
      ),
    ])
  func refused(_ method: String, _ params: String) throws {
    let world = World()
    let client = world.client()
    client.send(#"{"jsonrpc":"2.0","id":"w","method":"\#(method)","params":\#(params)}"#)
    client.drain()
    guard case .failure(_, let error)? = client.messages.last?.kind else {
      Issue.record("\(method) was not refused")
      return
    }
    #expect(error.bluetoothError.name == "invalidParameter" && error.message.contains(" is not one of \""), "\(error)")
    #expect(world.adapter.scan == nil && world.adapter.connectCalls == 0 && world.adapter.advertisements.isEmpty)
  }
}
