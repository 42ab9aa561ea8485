import Bluetooth

/// Tells of the packets between an adapter and its controller, until it is closed or nobody holds it.
public protocol PacketTap: AnyObject {
  /// Ends it; nothing is told any more.
  func close()
}

/// What a tap tells.
public enum TapEvent {
  /// A packet passed.
  case packet(MonitorPacket)
  /// So many packets passed that are not told, because they were not read in time.
  case lost(Int)
}
