import BledClient
import BledRPC

extension Device {
  /// The longest value of an attribute (Core 5.4, Vol 3, Part F, 3.2.9).
  private static let longestPacket = 512
  /// The MTU of each link (Core 5.4, Vol 3, Part G, 5.2.1).
  private static let shortestMTU = 23

  /// The maximum of octets that one packet writes, 20 to 512.
  func packetLength() async throws -> Int {
    min(max(Int(try await peripheral.parameters().mtu), Self.shortestMTU) - 3, Self.longestPacket)
  }
}
