import Bluetooth

extension ScanReport {
  /// The parts of a report with which programs decide whether to read the rest. Reading them takes a quarter of the
  /// time of the whole: `RPCMessage.concerned`.
  public struct Outline: RPCPayload, Hashable {
    /// The daemon's stable identifier of the device, a UUID.
    public var peripheral: String
    /// The adapter that received it.
    public var adapter: String
    /// The address it used.
    public var address: String
    /// "public" or "random".
    public var addressType: Word<DeviceAddress.Kind>
    /// Signal strength in dBm, -127 to 20, if known.
    public var rssi: Int?
    /// True if it accepts connections.
    public var connectable: Bool
    /// Its last received name, complete or shortened.
    public var name: String?
    /// The advertising data as received.
    public var data: HexBytes
    /// The scan response data as received, once one was received that is not empty.
    public var scanResponse: HexBytes?
    /// When it was received, in seconds since the epoch.
    public var time: Double

    /// Reads it, in the plain form only, and ignores all other members.
    public init?(from scanner: inout JSONScanner) {
      var peripheral: String?
      var adapter: String?
      var address: String?
      var addressType: Word<DeviceAddress.Kind>?
      var rssi: Int?
      var connectable: Bool?
      var heardName: String?
      var data: [UInt8]?
      var scanResponse: [UInt8]?
      var time: Double?
      let isObject = scanner.object { name, scanner in
        switch name {
        case "peripheral": scanner.read(&peripheral) { $0.text()?.string }
        case "adapter": scanner.read(&adapter) { $0.text()?.string }
        case "address": scanner.read(&address) { $0.text()?.string }
        case "addressType": scanner.read(&addressType) { $0.text().map { Word($0.string) } }
        case "rssi": scanner.read(&rssi) { $0.integer() }
        case "connectable": scanner.read(&connectable) { $0.bool() }
        case "name": scanner.read(&heardName) { $0.text()?.string }
        case "data": scanner.read(&data) { $0.text()?.hex }
        case "scanResponse": scanner.read(&scanResponse) { $0.text()?.hex }
        case "time": scanner.read(&time) { $0.decimal() }
        default: scanner.skip() != nil
        }
      }
      guard isObject, let peripheral, let adapter, let address, let addressType, let connectable, let data, let time
      else { return nil }
      self.peripheral = peripheral
      self.adapter = adapter
      self.address = address
      self.addressType = addressType
      self.rssi = rssi
      self.connectable = connectable
      name = heardName
      self.data = HexBytes(data)
      self.scanResponse = scanResponse.map { HexBytes($0) }
      self.time = time
    }
  }
}
