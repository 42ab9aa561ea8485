/// A device's attributes with its database hash: valid again whenever it has that hash (Core 5.4, Vol 3, Part G, 2.5.2
/// and 7.3). Without a hash they are valid for a bonded device that reports changes.
struct GATTCache: Hashable, Sendable {
  /// The Database Hash value, 16 octets; empty if the device has none.
  let hash: [UInt8]
  /// `KnownAttributes` as octets: this form needs a tenth of the space.
  let attributes: [UInt8]
}
