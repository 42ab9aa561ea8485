import Bluetooth
import EventLoop

extension Daemon {
  /// Lets programs record packets.
  func passCaptures(on loop: EventLoop) { captures.loop = loop }

  /// Lets programs have L2CAP channels by descriptors.
  public func passChannels(on loop: EventLoop) {
    channels.makePair = { keepsPackets throws(BluetoothError) in
      try ChannelPair(keepsPackets: keepsPackets, on: loop)
    }
  }
}
