import BledClient
import BledRPC
import Bluetooth
import CoreBluetooth
import Testing

extension BledProcess {
  /// Waits until the daemon has subscribed to a connected device's Service Changed: a session of its own on the same
  /// link reads the characteristic's configuration.
  func untilServiceChangesAreHeard(from device: CBPeripheral) async throws {
    try await Self.untilServiceChangesAreHeard(from: device, on: socket)
  }

  /// Waits likewise, in a process that has not started the daemon.
  static func untilServiceChangesAreHeard(
    from device: CBPeripheral, on socket: String = BledClient.defaultSocketPath
  ) async throws {
    let client = try await BledClient.connect(to: socket)
    let link = try await client.call(PeripheralConnect.self, .init(peripheral: device.identifier.uuidString)).peripheral
    let services = try await client.call(GATTDiscover.self, .init(peripheral: link)).services
    let changed = services.flatMap { $0.characteristics ?? [] }.first { $0.uuid == 0x2A05 }
    let configuration = changed?.descriptors?.first { $0.uuid == 0x2902 }
    guard let configuration else { throw Missing() }
    try await until {
      try await client.call(GATTRead.self, .init(peripheral: link, handle: configuration.handle)).value.octets == [
        2, 0,
      ]
    }
    client.close()
  }

  private struct Missing: Error {}
}
