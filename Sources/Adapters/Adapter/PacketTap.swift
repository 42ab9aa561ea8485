import Bluetooth

/// Reports the packets between an adapter and its controller, until it is closed or released.
public protocol PacketTap: AnyObject {
  /// Reports the packets up to now at once, unless the adapter is too far behind.
  func catchUp()
  /// Ends the tap; nothing more is reported.
  func close()
}

/// A tap's events.
public enum TapEvent {
  /// A packet passed, for the controller with this kernel number; nil for one without a number.
  case packet(MonitorPacket, of: UInt16? = nil)
  /// So many packets passed without a report, because they were not read in time.
  case lost(Int)
  /// The tap ended, for this reason.
  case ended(BluetoothError)
}

extension MonitorPacket {
  /// The adapter announced at a recording's beginning.
  package static func presence(_ name: String, _ address: DeviceAddress, isOn: Bool) -> [MonitorPacket] {
    let address = address.littleEndian
    // Eight octets; btmon expects the last one to be zero.
    let name = Array(name.utf8.prefix(7))
    let field = name + [UInt8](repeating: 0, count: 8 - name.count)
    let new = MonitorPacket(.newIndex, [0, 0] + address + field)
    guard isOn else { return [new] }
    // 0xFFFF is no company's number (Assigned Numbers, 7.1).
    return [new, MonitorPacket(.openIndex, []), MonitorPacket(.indexInformation, address + [0xFF, 0xFF])]
  }
}
