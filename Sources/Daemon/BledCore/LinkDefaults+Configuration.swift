import Adapter

extension Configuration.Links {
  /// The daemon's link defaults.
  public var defaults: LinkDefaults {
    var defaults = LinkDefaults()
    defaults.phy = phy == .le1M ? .le1M : .le2M
    defaults.longestPacket = longestPacket
    defaults.longestInterval = maximumInterval
    return defaults
  }
}
