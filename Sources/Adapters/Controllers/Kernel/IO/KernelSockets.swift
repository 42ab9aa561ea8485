import Adapter
import Bluetooth
import HCI

/// The sockets by which one adapter reaches the kernel. `LinuxSockets` are the kernel's; a test has others, with the
/// script of a kernel at their other ends.
protocol KernelSockets {
  /// Opens a socket of the management interface.
  func management() throws(SystemError) -> Descriptor

  /// Tells a socket of the management interface whether to leave out the advertisements that are heard.
  func ignoreDeviceFound(_ isIgnored: Bool, on management: Descriptor)

  /// Opens a raw socket of a controller.
  func controller(_ index: ControllerIndex, _ packets: ControllerPackets) throws(SystemError) -> Descriptor

  /// The LE links that the kernel knows on a controller; nil if it does not tell.
  func links(of index: ControllerIndex, over control: Descriptor) -> [KnownLink]?

  /// Opens a socket to which the kernel offers the links of an address, for ATT.
  /// - Parameter mtu: the longest ATT packet, in octets.
  func listen(at address: DeviceAddress, mtu: Int) throws(SystemError) -> Descriptor

  /// Accepts a link that the kernel offers; nil if it offers none.
  func accept(from listener: Descriptor) throws(SystemError) -> OfferedLink?

  /// Begins to connect an L2CAP channel to a device; the socket is writable when that has ended.
  /// - Parameters:
  ///   - receiveMTU: the longest packet that we take, in octets.
  ///   - address: ours.
  func channel(
    to peer: DeviceAddress, _ psm: UInt16, _ mode: ChannelMode, receiveMTU: Int, from address: DeviceAddress
  ) throws(SystemError) -> Descriptor

  /// Opens a raw socket that hears the L2CAP signalling on a controller's LE links; nil if there is none.
  func signalling(of index: ControllerIndex) -> Descriptor?

  /// The sockets for L2CAP channels that devices open.
  var channels: any ChannelSockets { get }

  /// The id of bluetoothd's process; nil if it does not run.
  var rival: Int? { get }

  /// The users that have L2CAP sockets, in ascending order: one of them may listen on channel 4.
  var usersOfChannels: [UInt32] { get }
}

/// Which packets a raw socket of a controller receives.
struct ControllerPackets: Hashable {
  /// Codes of HCI events.
  let events: [UInt8]
  /// Whether commands are received, too: the kernel's and other programs'.
  var hasCommands = false
  /// Of the LE events, all but advertising reports (false), or the reports alone (true); nil makes no difference.
  var reports: Bool?
}

/// A link that the kernel offers to the listener on channel 4.
struct OfferedLink {
  let descriptor: Descriptor
  /// The address by which the kernel knows the device.
  let peer: DeviceAddress
  let handle: UInt16
}

/// A link as the kernel knows it.
struct KnownLink: Hashable {
  let handle: UInt16
  /// The identity address, if the kernel could resolve the one on the air.
  let address: UInt64
  let role: LinkRole
}
