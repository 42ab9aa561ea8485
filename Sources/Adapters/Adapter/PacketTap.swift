import Bluetooth

/// Tells of the packets between an adapter and its controller, until it is closed or released.
public protocol PacketTap: AnyObject {
  /// Reports at once the packets that have passed by now, unless the adapter is too far behind.
  func catchUp()
  /// Ends it; nothing is told any more.
  func close()
}

/// The events of a tap.
public enum TapEvent {
  /// A packet passed; of the controller with this number of the kernel, nil for one that has none.
  case packet(MonitorPacket, of: UInt16? = nil)
  /// So many packets passed that are not told, because they were not read in time.
  case lost(Int)
  /// Nothing is told any more, for this reason.
  case ended(BluetoothError)
}

extension MonitorPacket {
  /// The adapter that a recording begins with.
  package static func presence(_ name: String, _ address: DeviceAddress, isOn: Bool) -> [MonitorPacket] {
    let address = address.littleEndian
    // Eight octets, of which btmon wants the last to be zero.
    let name = Array(name.utf8.prefix(7))
    let field = name + [UInt8](repeating: 0, count: 8 - name.count)
    let new = MonitorPacket(.newIndex, [0, 0] + address + field)
    guard isOn else { return [new] }
    // 0xFFFF is no company's number (Assigned Numbers, 7.1).
    return [new, MonitorPacket(.openIndex, []), MonitorPacket(.indexInformation, address + [0xFF, 0xFF])]
  }
}
