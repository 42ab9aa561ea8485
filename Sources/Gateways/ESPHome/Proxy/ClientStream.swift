/// The connection of one client, in octets.
package protocol ClientStream: AnyObject {
  /// Sends octets; they are lost if the connection has ended.
  func send(_ octets: [UInt8])
  /// The network that the client comes from: an address of IPv4, or the first half of one of IPv6.
  var origin: [UInt8] { get }
  /// The number of octets that wait because the client does not read.
  var unsent: Int { get }
  /// Ends the connection; what waits is sent first, where there is room.
  func close()
}
