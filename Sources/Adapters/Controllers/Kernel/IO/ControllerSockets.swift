import EventLoop
import HCI

/// The raw sockets of one controller: one for advertising reports, one for transmitted packets, one for everything
/// else. Reports and completions arrive in bursts; they have buffers of their own, so that they displace neither the
/// end of a link nor the answer to a command.
final class ControllerSockets {
  /// Commands, and all events that the other two do not receive.
  let control: PacketSocket
  /// Advertising reports.
  let reports: PacketSocket
  /// Number Of Completed Packets.
  let completions: CompletionSocket

  /// All LE events have the same code.
  private static let events: [UInt8] = [
    DisconnectionComplete.code, EncryptionChange.code, CommandComplete.code, CommandStatus.code,
    EncryptionKeyRefreshComplete.code, LEConnectionComplete.code,
  ]

  /// Opens all; nothing is read before `start`. Commands of the kernel and of other programs are received, too.
  /// - Throws: `SystemError`, for instance without the capability CAP_NET_RAW.
  init(
    _ index: ControllerIndex, of kernel: any KernelSockets, on loop: EventLoop
  ) throws(SystemError) {
    let events = ControllerPackets(events: Self.events, hasCommands: true, reports: false)
    control = PacketSocket(try kernel.controller(index, events), on: loop, priority: .highest)
    let heard = ControllerPackets(events: [LEConnectionComplete.code], reports: true)
    reports = PacketSocket(try kernel.controller(index, heard), on: loop, priority: .normal)
    let completed = ControllerPackets(events: [NumberOfCompletedPackets.code])
    completions = CompletionSocket(try kernel.controller(index, completed), on: loop)
  }

  func start() throws(SystemError) {
    try control.start()
    try reports.start()
  }

  func close() {
    control.close()
    reports.close()
    completions.close()
  }
}
