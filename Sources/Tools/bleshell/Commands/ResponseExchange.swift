import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// Sends data in subevents of a train again and again, and prints the responses.
struct ResponseExchange: Sendable {
  let advertising: Int
  let data: [(subevent: Int, data: HexBytes)]

  /// Continues until the task is cancelled, or the train can no longer be sent.
  func run(with client: BledClient, _ output: Output) async throws {
    let advertising = advertising
    let responses = client.notifications(AdvertisingResponses.self) { $0.advertising == advertising }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (subevent, octets) in data {
        let params = AdvertisingSend.Params(advertising: advertising, subevent: subevent, data: octets)
        group.addTask { try await Self.send(params, client, output) }
      }
      group.addTask { for try await received in responses { try Self.show(received, output) } }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Sends data in each interval. Data that was late for its subevent is reported, and sent with the next one.
  private static func send(_ params: AdvertisingSend.Params, _ client: BledClient, _ output: Output) async throws {
    while !Task.isCancelled {
      do throws(BluetoothError) {
        try await client.send(params)
      } catch {
        guard error.domain == .hci else { throw error }
        output.problem("subevent \(params.subevent): \(error.message)")
      }
    }
  }

  private static func show(_ received: AdvertisingResponses.Params, _ output: Output) throws {
    if output.json { return try output.object("responses", received, at: received.time) }
    if let lost = received.lost { output.problem("\(lost) reports of responses were lost") }
    let time = output.styled(clockText(Date(timeIntervalSince1970: received.time)), .dim)
    guard received.sent else { return output.line("\(time)  subevent \(received.subevent) was not sent") }
    for response in received.responses {
      let rssi = response.rssi.map { "\($0) dBm" } ?? "-"
      let end = response.truncated == true ? " (cut off)" : ""
      output.line(
        "\(time)  subevent \(received.subevent)  slot \(response.slot)  \(rssi)  "
          + "\(Hex.encode(response.data.octets))\(end)")
    }
  }
}
