/// The connection of one client, in octets.
package protocol ClientStream: AnyObject {
  /// Sends octets; they are lost if the connection has ended.
  func send(_ octets: [UInt8])
  /// The client's network: an address of IPv4, or the first half of an address of IPv6.
  var origin: [UInt8] { get }
  /// The number of octets that wait because the client does not read.
  var unsent: Int { get }
  /// Ends the connection; waiting data is sent first, as far as there is room.
  func close()
}
