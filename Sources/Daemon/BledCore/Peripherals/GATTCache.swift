/// The attributes of a device while its database had a certain hash: valid again whenever it has that hash
/// (Core 5.4, Vol 3, Part G, 2.5.2 and 7.3). Without a hash they are valid for a bonded device that tells changes.
struct GATTCache: Hashable, Sendable {
  /// The value of the Database Hash characteristic, 16 octets; empty if the device has none.
  let hash: [UInt8]
  /// `KnownAttributes` as octets: in this form they take a tenth of the space.
  let attributes: [UInt8]
}
