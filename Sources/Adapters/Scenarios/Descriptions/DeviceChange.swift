import Bluetooth
import JSONFiles
import ScenarioRules

/// Members of a device that change while it is on the air; missing ones stay unchanged.
package struct DeviceChange: ReadableFromFile, Sendable {
  package var signal: SignalDescription?
  package var losses: DeviceDescription.Losses?
  package var faults: DeviceDescription.Faults?
  package var connectDelay: TimeSpan?
  package var responseDelay: TimeSpan?
  package var pairing: PairingDescription?
  /// All its services except the generic ones.
  package var services: [ServiceDescription]?
  /// The advertising and scan response data.
  package var advertising: (data: [UInt8], scanResponse: [UInt8])?

  private enum Keys: String, CaseIterable {
    case rssi, losses, faults, connectDelay, responseDelay, pairing, services, advertising, scanResponse
  }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    signal = try members.optional(.rssi)
    losses = try members.optional(.losses)
    faults = try members.optional(.faults)
    connectDelay = try members.optional(.connectDelay)
    responseDelay = try members.optional(.responseDelay)
    pairing = try members.optional(.pairing)
    services = try members.optional(.services)
    let advertising = try members.optional(.advertising, AdvertisingDescription.self)
    let response = try members.optional(.scanResponse, AdvertisingDescription.self)
    guard advertising != nil || response != nil else { return }
    do throws(BluetoothError) {
      self.advertising = try (advertising ?? AdvertisingDescription()).encode(withScanResponse: response)
    } catch {
      throw members.failure(.advertising, error.message)
    }
  }
}
