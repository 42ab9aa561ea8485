/// A socket of packets that a program has passed: each packet is one value. It is closed with its last reference.
package protocol PacketSocket: AnyObject {
  /// Sends a packet.
  /// - Returns: false if there is no room for it, or nobody at the other end.
  func send(_ value: [UInt8]) -> Bool
}

/// Opens the sockets that programs pass.
package protocol PacketSocketOpener: AnyObject {
  /// - Parameter received: called with each packet, and with nil at the end; later, not from inside this call.
  /// - Returns: nil if it is no socket of packets.
  func open(_ descriptor: BusDescriptor, _ received: @escaping ([UInt8]?) -> Void) -> (any PacketSocket)?
}
