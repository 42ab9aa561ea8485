import Adapter
import Bluetooth

/// Opens listening sockets for channels: the kernel's, or a test's.
protocol ChannelSockets {
  /// - Parameters:
  ///   - address: the controller's.
  ///   - offered: called on the event loop when a channel waits to be accepted.
  func listen(
    on psm: UInt16, _ parameters: ChannelParameters, at address: DeviceAddress, _ offered: @escaping () -> Void
  ) throws(SystemError) -> any ChannelAcceptor
}

/// A socket that listens for channels.
protocol ChannelAcceptor: AnyObject {
  /// True if waiting channels are reported.
  var isAccepting: Bool { get set }
  /// - Returns: nil if none waits.
  func accept() throws(SystemError) -> AcceptedChannel?
  func close()
}

/// A channel that a device opened.
struct AcceptedChannel {
  let descriptor: Descriptor
  /// The link that carries it; nil if it has ended.
  let handle: UInt16?
}
