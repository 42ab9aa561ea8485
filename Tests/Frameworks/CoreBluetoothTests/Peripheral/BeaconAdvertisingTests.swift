import BledClient
import BledRPC
import CoreBluetooth
import Testing

extension WithDaemon {
  /// A program that is an iBeacon.
  @Suite struct BeaconAdvertisingTests {
    private static let key = "kCBAdvDataAppleBeaconKey"
    private static let content = Data((1...21).map { UInt8($0) })

    @Test("R33: the data of a beacon region makes an iBeacon, for nobody to connect to")
    func beacon() async throws {
      let daemon = try await BledProcess("{}", adapters: 2)
      let client = try await BledClient.connect(to: daemon.socket)
      let role = PeripheralRole()
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
      // Data of another length is no beacon; it is ignored, as by Apple's framework.
      try await role.advertise([Self.key: Data([1]), CBAdvertisementDataLocalNameKey: "Name"])
      for try await report in try await client.scan(.init()) {
        #expect(report.name == "Name" && report.manufacturerData == nil && report.connectable)
        break
      }
      role.manager.stopAdvertising()
      try await role.advertise([Self.key: Self.content])
      for try await report in try await client.scan(.init(duplicates: true)) where report.manufacturerData != nil {
        #expect(report.manufacturerData?.octets == [0x4C, 0x00, 0x02, 0x15] + (1...21).map { UInt8($0) })
        #expect(!report.connectable)
        break
      }
    }
  }
}
