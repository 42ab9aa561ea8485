import Adapter
import Bluetooth
import HCI
import Host

/// Lets a controller send packets while there is room for them here, if it supports flow control to the host.
final class HostRoom {
  /// Maximum wait of a controller without room.
  private static let relief = Duration.milliseconds(250)

  private let controller: ControllerHost
  private let context: AdapterContext
  /// Nil if the controller sends without limit.
  private var buffers: HostBuffers?
  private var alarm: (any ScheduledWork)?

  init(_ controller: ControllerHost, in context: AdapterContext) {
    self.controller = controller
    self.context = context
  }

  /// The controller is set up.
  func begin(isUsed: Bool) {
    alarm?.cancel()
    alarm = nil
    buffers = isUsed ? HostBuffers() : nil
  }

  func linkBegan(_ handle: ConnectionHandle) {
    buffers?.begin(handle)
    tell()
  }

  func linkEnded(_ handle: ConnectionHandle) { buffers?.end(handle) }

  /// A packet was received.
  /// - Parameter isHeld: true if packets of its link wait to be read; evaluated only if the controller can be slowed.
  func received(on handle: ConnectionHandle, isHeld: @autoclosure () -> Bool) {
    guard buffers != nil else { return }
    let isHeld = isHeld()
    buffers?.received(on: handle, isHeld: isHeld)
    tell()
  }

  /// A packet that no link holds was dropped.
  func dropped(on handle: ConnectionHandle) {
    if buffers != nil { send([HostNumberOfCompletedPackets(1, on: handle)]) }
  }

  /// The packets of a link have been read.
  func read(_ handle: ConnectionHandle) {
    buffers?.read(handle)
    tell()
  }

  private func tell() {
    send(buffers?.take() ?? [])
    guard alarm == nil, buffers?.isExhausted == true else { return }
    alarm = context.scheduler.schedule(after: Self.relief) { [weak self] in
      guard let self else { return }
      alarm = nil
      guard buffers?.isExhausted == true else { return }
      send(buffers?.relieve() ?? [])
    }
  }

  private func send(_ commands: [HostNumberOfCompletedPackets]) {
    for command in commands { controller.send(.command(CommandPacket(command))) }
  }
}
