import Adapter
import AdapterParts
import CBlueZ
import Glibc
import HCI

/// The sockets by which a controller of this machine is taken from the kernel.
protocol UserChannelSockets {
  /// Opens a socket of the kernel's management interface.
  func management() throws(SystemError) -> Descriptor
  /// Takes a controller; it is the kernel's again once the socket is closed.
  /// - Throws: `SystemError`, such as EBUSY.
  func channel(of controller: ControllerIndex) throws(SystemError) -> Descriptor
}

/// The sockets of the Linux kernel.
struct LinuxUserChannel: UserChannelSockets {
  /// How many octets may wait to be read; the kernel doubles it, and counts at least 768 for a packet.
  private static let room: Int32 = 1 << 20

  func management() throws(SystemError) -> Descriptor { Descriptor(try SystemError.check(cbz_hci_control())) }

  func channel(of controller: ControllerIndex) throws(SystemError) -> Descriptor {
    let descriptor = Descriptor(try SystemError.check(cbz_hci_user(controller.rawValue)))
    _ = cbz_set_receive_buffer(descriptor.number, Self.room)
    return descriptor
  }
}

/// A controller of this machine that the kernel's host leaves to this program (HCI_CHANNEL_USER). Its driver has loaded
/// the firmware by then.
///
/// | State  | Input                                 | Then                                                       |
/// |--------|---------------------------------------|------------------------------------------------------------|
/// | new    | `start`                               | the kernel is to switch the controller off: asking         |
/// | asking | any answer, or none in time           | taking: the next error counts                              |
/// | taking | it is free                            | `opened`: open                                             |
/// | taking | busy: just left, or still being set up | again every 100 ms, for 2 s at most                       |
/// | taking | another error, or busy for too long   | `refused`                                                  |
/// | open   | a packet                              | told                                                       |
/// | open   | the socket's end, or packets lost     | `ended`                                                    |
/// | any    | `close`                               | the controller is the kernel's again, without power        |
///
/// The kernel drops packets for which there is no room, and with them answers or buffers that are free again. Then the
/// state of the controller is unknown, so the channel ends and the controller is reset.
final class UserChannel: PacketTransport {
  /// How long the kernel may take to switch the controller off; it ends links first.
  private static let patience = Duration.seconds(10)
  private static let interval = Duration.milliseconds(100)
  private static let attempts = 20
  /// More octets than a packet of the kernel's drivers has (HCI_MAX_FRAME_SIZE).
  private static let longest = 2048
  /// Many packets come in pairs: room for data, and more data. So many are read at once.
  private static let batch = 4

  var onEvent: ((TransportEvent) -> Void)?
  private let controller: ControllerIndex
  private let sockets: any UserChannelSockets
  private let context: AdapterContext
  private var management: PacketSocket?
  private var socket: PacketSocket?
  private var alarm: (any ScheduledWork)?
  private var attempts = 0

  init(_ controller: ControllerIndex, of sockets: any UserChannelSockets, in context: AdapterContext) {
    self.controller = controller
    self.sockets = sockets
    self.context = context
  }

  /// - Throws: `SystemError`, for instance where the kernel has no Bluetooth.
  func start() throws(SystemError) {
    let management = PacketSocket(try sockets.management(), on: context.loop, priority: .high)
    management.onEvent = { [weak self] event in self?.receive(management: event) }
    try management.start()
    self.management = management
    _ = management.send(ManagementPacket(SetPowered(value: 0), index: controller).octets)
    schedule(after: Self.patience)
  }

  func send(_ packet: [UInt8]) {
    guard let socket, !socket.send(packet) else { return }
    end("it takes no data")
  }

  func close() {
    onEvent = nil
    alarm?.cancel()
    alarm = nil
    management?.close()
    management = nil
    socket?.close()
    socket = nil
  }

  private func schedule(after delay: Duration) {
    alarm?.cancel()
    alarm = context.scheduler.schedule(after: delay) { [weak self] in self?.take() }
  }

  // MARK: - Taking the controller

  private func receive(management event: PacketSocket.Event) {
    switch event {
    case .received(let octets):
      guard let packet = try? ManagementPacket(decoding: octets), packet.index == controller,
        let answer = try? ManagementEvent(decoding: packet)
      else { return }
      switch answer {
      case .commandComplete(let answer) where answer.opcode == SetPowered.opcode: take()
      // An obstacle to this is one to taking the controller, which names it better.
      case .commandStatus(let answer) where answer.opcode == SetPowered.opcode: take()
      default: break
      }
    case .ended: take()
    case .lost, .writable: break
    }
  }

  private func take() {
    alarm?.cancel()
    alarm = nil
    management?.close()
    management = nil
    guard onEvent != nil, socket == nil else { return }
    do throws(SystemError) {
      let new = PacketSocket(
        try sockets.channel(of: controller), on: context.loop, priority: .high, longest: Self.longest,
        batch: Self.batch)
      new.onEvent = { [weak self] event in self?.receive(event) }
      try new.start()
      socket = new
    } catch {
      attempts += 1
      guard error.code == EBUSY, attempts < Self.attempts else { return tell(.refused(error)) }
      return schedule(after: Self.interval)
    }
    tell(.opened)
  }

  // MARK: - Its packets

  private func receive(_ event: PacketSocket.Event) {
    switch event {
    case .received(let packet): tell(.packet(packet))
    case .lost(let count): end("the kernel dropped \(count) of its packets, which were not read in time")
    case .ended: end("it was unplugged, or the kernel took it back")
    case .writable: break
    }
  }

  /// Not from inside a call that sends.
  private func end(_ reason: String) {
    socket?.close()
    context.loop.execute { [weak self] in self?.tell(.ended(reason)) }
  }

  private func tell(_ event: TransportEvent) { onEvent?(event) }
}
