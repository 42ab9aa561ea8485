import Adapter
import Bluetooth
import HCI

/// The sockets through which an adapter reaches the kernel. `LinuxSockets` are the kernel's; a test has others, with a
/// scripted kernel at their other ends.
protocol KernelSockets {
  /// Opens a socket of the management interface.
  func management() throws(SystemError) -> Descriptor

  /// Sets whether a socket of the management interface leaves out received advertisements.
  func ignoreDeviceFound(_ isIgnored: Bool, on management: Descriptor)

  /// Opens a raw socket of a controller.
  func controller(_ index: ControllerIndex, _ packets: ControllerPackets) throws(SystemError) -> Descriptor

  /// The kernel's LE links on a controller; nil if it does not list them.
  func links(of index: ControllerIndex, over control: Descriptor) -> [KnownLink]?

  /// Opens a socket to which the kernel offers the links of an address, for ATT.
  /// - Parameter mtu: the longest ATT packet, in octets.
  func listen(at address: DeviceAddress, mtu: Int) throws(SystemError) -> Descriptor

  /// Accepts a link that the kernel offers; nil if it offers none.
  func accept(from listener: Descriptor) throws(SystemError) -> OfferedLink?

  /// Begins to connect an L2CAP channel to a device; the socket is writable once that has succeeded or failed.
  /// - Parameters:
  ///   - receiveMTU: the longest packet that we receive, in octets.
  ///   - address: ours.
  func channel(
    to peer: DeviceAddress, _ psm: UInt16, _ mode: ChannelMode, receiveMTU: Int, from address: DeviceAddress
  ) throws(SystemError) -> Descriptor

  /// Opens a raw socket that receives the L2CAP signalling on a controller's LE links; nil if there is none.
  func signalling(of index: ControllerIndex) -> Descriptor?

  /// The sockets for L2CAP channels that devices open.
  var channels: any ChannelSockets { get }

  /// The process id of bluetoothd; nil if it does not run.
  var rival: Int? { get }

  /// The users with L2CAP sockets, in ascending order: one of them may listen on channel 4.
  var usersOfChannels: [UInt32] { get }
}

/// The packets that a raw controller socket receives.
struct ControllerPackets: Hashable {
  /// Codes of HCI events.
  let events: [UInt8]
  /// True if commands are received, too: the kernel's and other programs'.
  var hasCommands = false
  /// The selected LE events: all but advertising reports (false), the reports alone (true), or both (nil).
  var reports: Bool?
}

/// A link that the kernel offers to the listener on channel 4.
struct OfferedLink {
  let descriptor: Descriptor
  /// The device's address in the kernel.
  let peer: DeviceAddress
  let handle: UInt16
}

/// A link in the kernel's list.
struct KnownLink: Hashable {
  let handle: UInt16
  /// The identity address, if the kernel could resolve the one on the air.
  let address: UInt64
  let role: LinkRole
}
