/// The results of a request for channels (Core 5.4, Vol 3, Part A, 4.23 and 4.26).
package enum ChannelResult {
  package static let success: UInt16 = 0x0000
  package static let noListener: UInt16 = 0x0002
  package static let noRoom: UInt16 = 0x0004
  package static let insufficientAuthentication: UInt16 = 0x0005
  package static let insufficientKeySize: UInt16 = 0x0007
  package static let insufficientEncryption: UInt16 = 0x0008
  package static let invalidNumber: UInt16 = 0x0009
  package static let numberInUse: UInt16 = 0x000A
  package static let unacceptableParameters: UInt16 = 0x000B
  package static let invalidParameters: UInt16 = 0x000C
  /// Another response follows.
  static let pending: ClosedRange<UInt16> = 0x000D...0x000F
  /// With these a response grants some or all of the channels.
  static let granting: Set<UInt16> = [success, noRoom, invalidNumber, numberInUse]
}
