import Adapter
import Bluetooth
import HCI
import Host

/// The channels on the links of one controller, as the links use them.
protocol ChannelService: AnyObject {
  /// The answer to a device that asks for channels.
  func offer(_ psm: UInt16, _ mode: ChannelMode, on handle: ConnectionHandle) -> ChannelOffer
  /// Opens a channel to a listener of a device.
  func open(
    to psm: UInt16, _ parameters: ChannelParameters, on link: HostLink,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void)
  /// Handles the signalling actions of a link that concern channels.
  func perform(_ action: SignallingMachine.Action, _ handle: ConnectionHandle)
  /// A frame was received.
  /// - Returns: false without such a channel.
  func receive(_ piece: [UInt8], on number: UInt16, of handle: ConnectionHandle) -> Bool
  /// The controller has transmitted packets of a link.
  func transmitted(_ handle: ConnectionHandle)
  /// A link has ended.
  func linkEnded(_ handle: ConnectionHandle, _ error: BluetoothError)
}
