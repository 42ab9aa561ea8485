/// LE Monitored Advertisers Report (Core 6.0, Vol 4, Part E, 7.7.65).
package struct LEMonitoredAdvertisersReport: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x34
  /// The device, as in the list.
  package var peer = HCIAddress()
  /// 0: no sufficiently strong packet within the timeout; 1: the device is back.
  package var condition: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&peer, &condition) }
}
