import BledRPC
import Bluetooth
import Testing

@testable import ESPHome

/// The scan of all clients: its state, its mode and the batches.
@Suite struct ScannerTests {
  private func state(_ state: ScannerState, active: Bool = true) -> APIFrame {
    .scannerState(state, isActive: active, configuredActive: true)
  }

  @Test func theScanLastsAsLongAsSomebodyWantsIt() throws {
    let stage = ProxyStage()
    let (first, second) = (try stage.greeted(), try stage.greeted())
    #expect(try stage.params(ScanStart.self).isEmpty)
    stage.send(first, 66, [8, 1])
    #expect(first.stream.take() == [state(.starting), state(.running)])
    stage.send(second, 66, [8, 1])
    #expect(second.stream.take() == [state(.running)])
    let scan = try #require(try stage.params(ScanStart.self).first)
    #expect(try stage.params(ScanStart.self).count == 1)
    #expect(scan.duplicates == true && scan.active == true)
    stage.send(first, 87)
    #expect(try stage.params(ScanStop.self).isEmpty)
    stage.send(second, 5)
    #expect(try stage.params(ScanStop.self).count == 1)
  }

  @Test func aBatchIsSixteenOrATenthOfASecond() throws {
    let stage = ProxyStage()
    let client = try stage.greeted()
    stage.send(client, 66, [8, 1])
    _ = client.stream.take()
    try stage.hear(17)
    let one = APIFrame.advertisement(
      address: ProxyStage.device, rssi: -62, addressType: 1, data: [2, 1, 6, 2, 10, 4])
    #expect(client.stream.take() == [.advertisements(Array([[UInt8]](repeating: one, count: 16).joined()))])
    stage.advance(by: .milliseconds(99))
    #expect(client.stream.take().isEmpty)
    stage.advance(by: .milliseconds(1))
    #expect(client.stream.take() == [.advertisements(one)])
    stage.advance(by: .seconds(1))
    #expect(client.stream.take().isEmpty)
  }

  @Test func anOldClientHearsEachAdvertisementWithItsParts() throws {
    let stage = ProxyStage()
    let (old, new) = (try stage.greeted(), try stage.greeted())
    stage.send(old, 66)
    #expect(old.stream.take() == [state(.starting), state(.running)])
    stage.send(new, 66, [8, 1])
    _ = new.stream.take()
    try stage.hear(2)
    let one = APIFrame.parsedAdvertisement(
      address: ProxyStage.device, rssi: -62, addressType: 1, AdvertisingData(parsing: [2, 1, 6, 2, 10, 4]))
    #expect(old.stream.take() == [one, one])
    stage.advance(by: .milliseconds(100))
    #expect(new.stream.take().count == 1 && old.stream.take().isEmpty)
    // The scan continues for the other one.
    stage.send(old, 87)
    #expect(try stage.params(ScanStop.self).isEmpty)
    stage.send(new, 87)
    #expect(try stage.params(ScanStop.self).count == 1)
  }

  @Test func aClientChoosesTheMode() throws {
    let stage = ProxyStage()
    let client = try stage.greeted()
    stage.send(client, 66, [8, 1])
    _ = client.stream.take()
    stage.send(client, 127)
    #expect(client.stream.take() == [state(.starting, active: false), state(.running, active: false)])
    #expect(try stage.params(ScanStart.self).map(\.active) == [true, false])
    // A repetition is answered, too.
    stage.send(client, 127)
    #expect(client.stream.take() == [state(.running, active: false)])
  }

  @Test func theStatesOfTheAdapterAndOfBled() throws {
    let stage = ProxyStage()
    let client = try stage.greeted()
    stage.send(client, 66, [8, 1])
    _ = client.stream.take()
    try stage.own().notify(AdapterChanged.self, ProxyStage.adapter(state: "off"))
    stage.settle()
    #expect(client.stream.take() == [state(.failed)])
    try stage.own().notify(AdapterChanged.self, ProxyStage.adapter())
    stage.settle()
    #expect(client.stream.take() == [state(.running)])
    stage.daemon.isGone = true
    try stage.own().end()
    stage.settle()
    #expect(client.stream.take() == [state(.stopped)])
    stage.daemon.isGone = false
    stage.advance(by: .seconds(1))
    #expect(client.stream.take() == [state(.starting), state(.running)])
    try stage.hear(16)
    #expect(client.stream.take(93).count == 1)
  }

  @Test func aRefusedScanHasFailed() throws {
    let stage = ProxyStage()
    stage.answer = { method, _ in
      method == ScanStart.name ? .failure(BledError.notPermitted.error("no")) : nil
    }
    let client = try stage.greeted()
    stage.send(client, 66, [8, 1])
    #expect(client.stream.take() == [state(.starting), state(.failed)])
  }
}
