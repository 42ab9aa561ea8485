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
