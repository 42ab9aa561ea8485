import CBlueZ
import HCI

/// The sockets used to take a controller of this machine from the kernel.
protocol UserChannelSockets: Sendable {
  /// Opens a socket of the kernel's management interface, without waiting.
  func management() throws(SystemError) -> Descriptor
  /// Takes a controller; it is the kernel's again once the descriptor is closed.
  ///
  /// Blocks while the driver opens the controller and sets it up: called on a worker's thread.
  /// - Returns: a descriptor of the user channel, to be closed by `close`.
  /// - Throws: `SystemError`, such as EBUSY.
  func channel(of controller: ControllerIndex) throws(SystemError) -> Int32
  /// Stops reports of transmitted packets on a controller's channel.
  /// - Returns: a socket that receives them; nil if the channel still does.
  func completions(of controller: ControllerIndex, insteadOf channel: Int32) -> Descriptor?
  /// The name of a controller for drivers; empty if the system has none.
  func modalias(of controller: ControllerIndex) -> String
  /// Gives a controller back. Blocks while the driver closes it: called on a worker's thread.
  func close(channel descriptor: Int32)
}

/// The sockets of the Linux kernel.
struct LinuxUserChannel: UserChannelSockets {
  /// Octets that may be queued for reading; the kernel doubles it, and counts at least 768 for a packet.
  private static let room: Int32 = 1 << 20

  func management() throws(SystemError) -> Descriptor { Descriptor(try SystemError.check(cbz_hci_control())) }

  func channel(of controller: ControllerIndex) throws(SystemError) -> Int32 {
    let descriptor = try SystemError.check(cbz_hci_user(controller.rawValue))
    _ = cbz_set_receive_buffer(descriptor, Self.room)
    return descriptor
  }

  func completions(of controller: ControllerIndex, insteadOf channel: Int32) -> Descriptor? {
    let number = cbz_hci_completions(controller.rawValue)
    guard number >= 0 else { return nil }
    let descriptor = Descriptor(number)
    _ = cbz_set_receive_buffer(number, Self.room)
    return cbz_hci_withhold_completions(channel) < 0 ? nil : descriptor
  }

  func modalias(of controller: ControllerIndex) -> String { Modalias.read(of: controller.name) }

  func close(channel descriptor: Int32) { _ = cbz_close(descriptor) }
}
