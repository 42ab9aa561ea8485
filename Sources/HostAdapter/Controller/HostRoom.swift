import HCI
import Host

/// Lets a controller send packets while there is room for them here, where it has flow control to the host.
final class HostRoom {
  private let controller: ControllerHost
  /// nil where the controller sends as it likes.
  private var buffers: HostBuffers?

  init(_ controller: ControllerHost) { self.controller = controller }

  /// The controller is set up.
  func begin(isUsed: Bool) { buffers = isUsed ? HostBuffers() : nil }

  func linkBegan(_ handle: ConnectionHandle) {
    buffers?.begin(handle)
    tell()
  }

  func linkEnded(_ handle: ConnectionHandle) { buffers?.end(handle) }

  /// A packet came.
  /// - Parameter isHeld: whether packets of its link wait to be read.
  func received(on handle: ConnectionHandle, isHeld: Bool) {
    guard buffers != nil else { return }
    buffers?.received(on: handle, isHeld: isHeld)
    tell()
  }

  /// The packets of a link have been read.
  func read(_ handle: ConnectionHandle) {
    buffers?.read(handle)
    tell()
  }

  private func tell() { if let command = buffers?.take() { controller.send(.command(CommandPacket(command))) } }
}
