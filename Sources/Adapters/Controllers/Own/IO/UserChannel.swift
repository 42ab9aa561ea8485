import Adapter
import Bluetooth
import EventLoop
import Glibc
import HCI
import Synchronization

/// A controller of this machine that the kernel's host leaves to this program (HCI_CHANNEL_USER). Its driver has loaded
/// the firmware by then.
///
/// | State   | Input                                 | Then                                                      |
/// |---------|---------------------------------------|-----------------------------------------------------------|
/// | new     | `start`                               | the kernel is to switch the controller off: asking        |
/// | asking  | any answer, or none in time           | opening: the next error counts                            |
/// | opening | it is open                            | `opened`: open                                            |
/// | opening | busy: just left, or still being set up | waiting: opening again every 100 ms, for 2 s at most     |
/// | opening | another error, or busy for too long   | `refused`                                                 |
/// | opening | `close`                               | cancelled: given back as soon as it is open               |
/// | open    | a packet                              | delivered                                                 |
/// | open    | a report of transmitted packets       | withheld unless awaited: `CompletionReports`              |
/// | open    | the socket's end, or packets lost     | `ended`                                                   |
/// | any     | `close`                               | the controller is the kernel's again, without power       |
///
/// Opening and closing take as long as the driver needs: seconds if the controller does not answer. A worker does both
/// in order, so that a controller just closed is opened after that.
///
/// The kernel drops packets without room, and with them answers or reports of free buffers. Then the state of the
/// controller is unknown, so the channel ends and the controller is reset.
final class UserChannel: PacketTransport {
  /// An opening on its way to the worker and back.
  private final class Opening: Sendable {
    let isCancelled = Atomic(false)
  }

  /// Timeout for the kernel to switch the controller off; it ends links first.
  private static let patience = Duration.seconds(10)
  private static let interval = Duration.milliseconds(100)
  private static let attempts = 20
  /// More octets than a packet of the kernel's drivers has (HCI_MAX_FRAME_SIZE).
  private static let longest = 2048
  /// The maximum age of a packet, in seconds; older packets count as this old.
  private static let longestAge = 3600.0
  /// Maximum packets of one read when packets follow one another.
  private static let batch = 4

  var onEvent: ((TransportEvent) -> Void)?
  private let controller: ControllerIndex
  private let sockets: any UserChannelSockets
  private let worker: Worker
  private let loop: EventLoop
  private let scheduler: any Scheduler
  private var management: PacketSocket?
  private var opening: Opening?
  private var socket: PacketSocket?
  /// Nil if the socket receives them.
  private var completions: CompletionReports?
  private var alarm: (any ScheduledWork)?
  private var attempts = 0

  /// - Parameter worker: opens and closes the controller; the same one each time.
  init(
    _ controller: ControllerIndex, of sockets: any UserChannelSockets, by worker: Worker, on loop: EventLoop,
    _ scheduler: any Scheduler
  ) {
    self.controller = controller
    self.sockets = sockets
    self.worker = worker
    self.loop = loop
    self.scheduler = scheduler
  }

  /// - Throws: `SystemError`, for instance where the kernel has no Bluetooth.
  func start() throws(SystemError) {
    let management = PacketSocket(try sockets.management(), on: loop, priority: .high)
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

  let obstacle: String? = nil

  /// By the kernel's stamp: events and data wait in one queue, and this process may have been busy, or stopped.
  var arrival: Instant? {
    guard let stamp = socket?.stamp, stamp > 0 else { return nil }
    let age = scheduler.secondsSinceEpoch - Double(stamp) / 1_000_000
    // The time of day may have been set meanwhile.
    return scheduler.now.advanced(by: .zero - .seconds(max(0, min(age, Self.longestAge))))
  }

  func close() {
    onEvent = nil
    alarm?.cancel()
    alarm = nil
    management?.close()
    management = nil
    opening?.isCancelled.store(true, ordering: .relaxed)
    opening = nil
    socket?.close()
    socket = nil
    completions?.close()
    completions = nil
  }

  func awaitCompletions(_ isAwaited: Bool) -> Bool {
    completions?.isAwaited = isAwaited
    return completions?.isAwaited ?? true
  }

  func takeCompletions(_ most: Int, _ body: (ArraySlice<UInt8>) -> Void) { completions?.take(most, body) }

  private func schedule(after delay: Duration) {
    alarm?.cancel()
    alarm = scheduler.schedule(after: delay) { [weak self] in self?.take() }
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
      // An obstacle to this command also prevents taking the controller, which names it better.
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
    guard onEvent != nil, socket == nil, opening == nil else { return }
    let new = Opening()
    opening = new
    worker.submit { [sockets, controller] () throws -> Int32? in
      guard !new.isCancelled.load(ordering: .relaxed) else { return nil }
      let number = try sockets.channel(of: controller)
      guard new.isCancelled.load(ordering: .relaxed) else { return number }
      sockets.close(channel: number)
      return nil
    } _: { [weak self, sockets, worker] result in
      // Also for a cancelled opening: its descriptor is closed.
      let descriptor = (try? result.get()).flatMap { $0 }.map { Self.descriptor($0, of: sockets, by: worker) }
      guard let self, opening === new else { return }
      opening = nil
      if let descriptor { return use(descriptor) }
      if case .failure(let error) = result { fail(error) }
    }
  }

  /// A descriptor that the worker closes. Pending work retains the worker.
  private static func descriptor(
    _ number: Int32, of sockets: any UserChannelSockets, by worker: Worker
  ) -> Descriptor {
    Descriptor(number) { number in
      worker.submit {
        sockets.close(channel: number)
      } _: { result in
        withExtendedLifetime(worker) { if case .failure = result { sockets.close(channel: number) } }
      }
    }
  }

  private func use(_ descriptor: Descriptor) {
    do throws(SystemError) {
      let new = PacketSocket(
        descriptor, on: loop, priority: .high, longest: Self.longest, batch: Self.batch, isStamped: true)
      new.onEvent = { [weak self] event in self?.receive(event) }
      try new.start()
      socket = new
    } catch {
      return tell(.refused(error))
    }
    completions = sockets.completions(of: controller, insteadOf: descriptor.number).map { own in
      CompletionReports(own, on: loop) { [weak self] packet in
        self?.tell(.packet(packet))
      } onLoss: { [weak self] count in
        self?.lost(count)
      }
    }
    tell(.opened)
  }

  private func fail(_ error: any Error) {
    let error = error as? SystemError ?? SystemError(result: -((error as? EventLoopError)?.code ?? EAGAIN))
    attempts += 1
    guard error.code == EBUSY, attempts < Self.attempts else { return tell(.refused(error)) }
    schedule(after: Self.interval)
  }

  // MARK: - Its packets

  private func receive(_ event: PacketSocket.Event) {
    switch event {
    case .received(let packet): tell(.packet(packet))
    case .lost(let count): lost(count)
    case .ended: end("it was unplugged, or the kernel took it back")
    case .writable: break
    }
  }

  private func lost(_ count: Int) { end("the kernel dropped \(count) of its packets, which were not read in time") }

  /// Not from inside a sending call.
  private func end(_ reason: String) {
    socket?.close()
    loop.execute { [weak self] in self?.tell(.ended(reason)) }
  }

  private func tell(_ event: TransportEvent) { onEvent?(event) }
}
