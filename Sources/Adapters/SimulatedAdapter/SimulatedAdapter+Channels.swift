import Adapter
import Bluetooth

extension SimulatedAdapter {
  /// Listens for channels.
  public func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    guard let psm = psm ?? ChannelParameters.dynamic.reversed().first(where: { channels[$0] == nil }) else {
      throw BledError.limitReached.error("all numbers for channels are taken on \(information.id)")
    }
    guard channels[psm] == nil else {
      throw BledError.alreadyInProgress.error("PSM \(psm) is taken on \(information.id): leave it out for a free one")
    }
    channels[psm] = parameters
    return psm
  }

  /// Ends listening.
  public func unpublishChannel(_ psm: UInt16) { channels[psm] = nil }
}
