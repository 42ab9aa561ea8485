/// Number Of Completed Packets, read in place: one is received for each packet of data.
package struct CompletedPackets {
  private let octets: ArraySlice<UInt8>
  /// The number of sending links.
  package let count: Int

  /// Reads a whole packet, as `HCIPacket` and `HCIEvent` do.
  /// - Returns: nil for another packet.
  /// - Throws: `.truncated`, and `.trailingOctets` if the packet does not end where its length says.
  package init?(packet octets: ArraySlice<UInt8>) throws(HCICodingError) {
    let start = octets.startIndex
    guard octets.count >= 3, octets[start] == HCIPacket.eventType,
      octets[start + 1] == NumberOfCompletedPackets.code
    else { return nil }
    try HCIPacket.check(octets.count - 3, against: octets[start + 2])
    self.octets = octets.dropFirst(4)
    count = octets.count > 3 ? Int(octets[start + 3]) : 0
    let missing = 4 + 4 * count - octets.count
    guard missing <= 0 else { throw .truncated(missing: missing) }
  }

  /// A sending link, and the number of packets that left the controller.
  /// - Parameter place: less than `count`.
  package subscript(place: Int) -> (handle: ConnectionHandle, packets: Int) {
    let start = octets.startIndex + 4 * place
    return (
      UInt16(octets[start]) | UInt16(octets[start + 1]) << 8, Int(octets[start + 2]) | Int(octets[start + 3]) << 8
    )
  }
}
