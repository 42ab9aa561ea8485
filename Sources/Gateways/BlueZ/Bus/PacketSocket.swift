/// A socket of packets that a program has passed: each packet is one value. It is closed with its last reference.
package protocol PacketSocket: AnyObject {
  /// Sends a packet. After `full`, `PacketSocketEvent.room` follows once.
  func send(_ value: [UInt8]) -> PacketSocketResult
  /// True if packets are read, as initially. Otherwise the program's packets wait, and eventually its sending.
  var isReading: Bool { get set }
}

/// The outcome of sending a packet.
package enum PacketSocketResult: Sendable {
  case sent
  /// No room: the program has to read first.
  case full
  /// The program no longer accepts packets.
  case failed
}

/// An event of a packet socket.
package enum PacketSocketEvent: Hashable, Sendable {
  case packet([UInt8])
  /// There is room again.
  case room
  /// The program has closed it.
  case end
}

/// Opens the sockets that programs pass.
package protocol PacketSocketOpener: AnyObject {
  /// - Parameter happened: called with each event, until the end; later, not from inside this call.
  /// - Returns: nil if it is no socket of packets.
  func open(_ descriptor: BusDescriptor, _ happened: @escaping (PacketSocketEvent) -> Void) -> (any PacketSocket)?
}
