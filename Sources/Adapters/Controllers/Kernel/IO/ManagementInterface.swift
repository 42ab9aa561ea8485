import HCI
import Logging

/// The kernel's management interface, for one controller.
final class ManagementInterface {
  /// The kernel's number of the controller; nil while the kernel does not have it.
  var index: ControllerIndex?
  /// Called for each packet, and when the socket has ended; it is closed then.
  var onEvent: ((PacketSocket.Event) -> Void)?

  private let kernel: any KernelSockets
  private let context: LoopContext
  private var socket: PacketSocket?

  init(_ kernel: any KernelSockets, in context: LoopContext) {
    self.kernel = kernel
    self.context = context
  }

  /// - Throws: `SystemError`, for instance without Bluetooth in the kernel.
  func open() throws(SystemError) {
    let new = PacketSocket(try kernel.management(), on: context.loop, priority: .highest)
    new.onEvent = { [weak self] event in
      if case .ended = event { self?.close() }
      self?.onEvent?(event)
    }
    try new.start()
    socket = new
  }

  func close() {
    socket?.close()
    socket = nil
  }

  func send(_ packet: ManagementPacket) {
    guard socket?.send(packet.octets) != false else {
      return context.logger.error("the kernel's management interface accepts no commands")
    }
  }

  /// Sends a command about the controller; nothing while the kernel does not have it.
  func send(_ command: some ManagementCommand) {
    if let index { send(ManagementPacket(command, index: index)) }
  }

  /// Sets whether the kernel leaves out received advertisements.
  func ignoreDeviceFound(_ isIgnored: Bool) {
    if let socket { kernel.ignoreDeviceFound(isIgnored, on: socket.descriptor) }
  }
}
