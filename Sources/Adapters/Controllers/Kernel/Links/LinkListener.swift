import Adapter
import Bluetooth
import HCI
import Logging

/// The user of a `LinkListener`.
protocol LinkListenerOwner: AnyObject {
  /// True while a link that we initiated waits for its socket: links are then accepted at once.
  var isInitiatedLinkAwaited: Bool { get }
  /// True while the controller is in use; links that arrive before are accepted afterwards.
  var mayAccept: Bool { get }
  /// The kernel offers a link.
  func accept(_ offered: OfferedLink)
  /// The waiting links were accepted.
  func offersAreTaken()
  /// These links went to another program.
  func offersAreMissing(_ handles: [ConnectionHandle])
  /// The kernel does not let the adapter listen again.
  func listeningFailed(_ error: SystemError)
}

/// The listener on channel 4. The kernel offers every new LE link to the program that began to listen last, of any
/// user: if a due link is not offered, another program has accepted it, and this listener is opened again.
final class LinkListener {
  /// A device's time to answer the kernel's own request for other parameters: a few connection intervals.
  private static let probation = Duration.milliseconds(100)
  /// The delay before links are accepted again, after running out of descriptors or memory.
  private static let retry = Duration.milliseconds(500)

  weak var owner: (any LinkListenerOwner)?
  private let kernel: any KernelSockets
  private let radio: RadioRunner
  private let context: LoopContext
  private var address = DeviceAddress.none
  private var socket: Descriptor?
  /// Rings when links are to be accepted: some time after the listener became ready, or although it did not.
  private var acceptAlarm: (any ScheduledWork)?
  private var expected = ExpectedOffers()
  /// Rings when `expected` is due.
  private var offerAlarm: (any ScheduledWork)?

  init(_ kernel: any KernelSockets, _ radio: RadioRunner, in context: LoopContext) {
    self.kernel = kernel
    self.radio = radio
    self.context = context
  }

  /// True if links that the kernel offers wait to be accepted.
  var hasWaitingLinks: Bool { acceptAlarm != nil }

  /// Listens, in place of an earlier listener.
  /// - Parameter address: the controller's.
  func open(at address: DeviceAddress) throws(SystemError) {
    self.address = address
    closeSocket()
    let new = try kernel.listen(at: address, mtu: KernelLink.longestMTU)
    // Links may have to wait, so each is reported once.
    try new.whenReady(on: context.loop, interest: .news, priority: .high) { [weak self] _ in self?.offered() }
    socket = new
  }

  func close() {
    acceptAlarm?.cancel()
    acceptAlarm = nil
    expect { $0.clear() }
    closeSocket()
  }

  private func closeSocket() {
    socket?.close()
    socket = nil
  }

  // MARK: - Accepting

  /// The kernel offers links. On kernels where the end of a link without any packet is dangerous, links that devices
  /// initiated are accepted after time for one packet: the kernel cleans up links that end earlier.
  func offered() {
    guard let owner, owner.mayAccept else { return }
    guard KernelFault.endsWithSilentLinks, !owner.isInitiatedLinkAwaited else {
      accept()
      return
    }
    guard acceptAlarm == nil else { return }
    acceptAlarm = context.scheduler.schedule(after: Self.probation) { [weak self] in self?.accept() }
  }

  /// Accepts the links that the kernel offers.
  /// - Returns: true if none is left. Without a free descriptor (EMFILE) or memory a link waits, and is tried again.
  @discardableResult
  func accept() -> Bool {
    acceptAlarm?.cancel()
    acceptAlarm = nil
    defer { owner?.offersAreTaken() }
    // The controller's events about them come first.
    radio.drain()
    do throws(SystemError) {
      while let socket, let offered = try kernel.accept(from: socket) {
        expect { $0.offered(offered.handle) }
        owner?.accept(offered)
      }
      return true
    } catch {
      context.logger.warning("a connection could not be accepted", metadata: ["errno": "\(error.code)"])
      // Nothing signals free descriptors or memory.
      acceptAlarm = context.scheduler.schedule(after: Self.retry) { [weak self] in self?.accept() }
      return false
    }
  }

  // MARK: - Links that go to others

  /// A device's link is up: the kernel is going to offer it.
  func began(_ handle: ConnectionHandle) {
    let asks = radio.activities.features.contains(.peripheralInitiatedFeaturesExchange)
    expect { $0.began(handle, asks: asks, at: context.scheduler.now) }
  }

  /// The device has reported its features, the last thing that the kernel waits for.
  func receivedFeatures(_ handle: ConnectionHandle) { expect { $0.asked(handle, at: context.scheduler.now) } }

  /// A link has ended. If the kernel should have offered it by then another program may have it, and would get the next
  /// one.
  /// - Parameter isKnown: returns true if the link was announced meanwhile; called later.
  func ended(_ handle: ConnectionHandle, isKnown: @escaping () -> Bool) {
    guard expect({ $0.ended(handle) }) else { return }
    context.scheduler.execute { [weak self] in
      guard let self, socket != nil, radio.activities.isReady, accept(), !isKnown() else { return }
      listenAgain()
    }
  }

  /// Reports that another program accepted a link, and opens the listener again, so that the kernel offers links here.
  func isRobbed() {
    if let rival = kernel.rival {
      context.logger.warning("a link went to bluetoothd; bled listens again", metadata: ["process": "\(rival)"])
    } else {
      let users = kernel.usersOfChannels.map { "\($0)" }.joined(separator: " ")
      context.logger.error(
        "a link was taken by another program that listens for ATT; it is ended, and bled listens again (docs/security.md)",
        metadata: ["users with L2CAP sockets": "\(users.isEmpty ? "unknown" : users)"])
    }
    listenAgain()
  }

  private func offersAreDue() {
    // A link waiting to be accepted was offered.
    guard accept() else {
      expect { $0.postpone(at: context.scheduler.now) }
      return
    }
    let missing = expect { $0.overdue(at: context.scheduler.now) }
    guard !missing.isEmpty else { return }
    isRobbed()
    owner?.offersAreMissing(missing)
  }

  private func listenAgain() {
    guard accept() else { return }
    do throws(SystemError) { try open(at: address) } catch { owner?.listeningFailed(error) }
  }

  /// Changes the links that the kernel is expected to offer.
  @discardableResult
  private func expect<Result>(_ change: (inout ExpectedOffers) -> Result) -> Result {
    defer {
      context.arm(&offerAlarm, at: expected.deadline) { [weak self] _ in self?.offersAreDue() }
    }
    return change(&expected)
  }
}
