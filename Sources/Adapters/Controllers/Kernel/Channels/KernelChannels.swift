import Adapter
import Bluetooth
import CBlueZ
import Glibc

/// The channels of one controller: channels that devices open, and channels that we open on links.
final class KernelChannels: LinkChannels {
  private let kernel: any KernelSockets
  private let management: ManagementInterface
  private let links: KernelLinks
  private let pairing: KernelPairing
  private let context: LoopContext
  private let listeners: ChannelListeners

  init(
    _ kernel: any KernelSockets, _ management: ManagementInterface, _ links: KernelLinks, _ pairing: KernelPairing,
    in context: LoopContext
  ) {
    self.kernel = kernel
    self.management = management
    self.links = links
    self.pairing = pairing
    self.context = context
    listeners = ChannelListeners(kernel.channels, scheduler: context.scheduler)
    links.channels = self
    listeners.onChannel = { [weak self] psm, channel, handle in self?.accepted(psm, channel, handle) }
    listeners.onWarning = { text, psm, errno in
      context.logger.warning("\(text)", metadata: ["psm": "\(psm)", "errno": "\(errno)"])
    }
  }

  /// The controller is in use: devices can open channels.
  func begin() { listeners.open(at: pairing.keys.local) }

  /// Listens for channels.
  /// - Parameter isInUse: true if the controller is in use.
  func publish(_ psm: UInt16?, _ parameters: ChannelParameters, isInUse: Bool) throws(BluetoothError) -> UInt16 {
    try listeners.publish(psm, parameters, at: isInUse ? pairing.keys.local : nil, of: context.name)
  }

  /// Ends listening.
  func unpublish(_ psm: UInt16) { listeners.unpublish(psm) }

  /// A device opened a channel.
  private func accepted(_ psm: UInt16, _ descriptor: Descriptor, _ handle: UInt16) {
    // A device may open a channel before it sends anything else.
    if links.link(handle) == nil { links.accept() }
    guard let link = links.link(handle) else { return descriptor.close() }
    let channel = KernelChannel(psm, descriptor, on: link, in: context)
    // The link itself may have to be announced first.
    context.scheduler.execute { link.opened(channel) }
  }

  /// True if the kernel has enhanced channels, and they are enabled.
  var hasEnhancedChannels: Bool { Self.mayListen(on: 0, at: pairing.keys.local) }

  /// True if the kernel has enhanced channels and this process may listen for them under a number. Numbers below 0x80
  /// require CAP_NET_BIND_SERVICE.
  /// - Parameter address: a controller's; nil for any.
  static func mayListen(on psm: UInt16, at address: DeviceAddress?) -> Bool {
    let octets = address?.littleEndian ?? [UInt8](repeating: 0, count: 6)
    let number = cbz_channel_socket(
      octets, address?.kind.rawValue ?? 0, psm, UInt16(ChannelMode.enhanced.lengths.lowerBound))
    guard number >= 0 else { return false }
    let socket = Descriptor(number)
    defer { socket.close() }
    return cbz_channel_is_enhanced(socket.number) >= 0
  }

  // MARK: - Opening

  /// Opens a channel to a listener of a device.
  func open(
    to psm: UInt16, _ parameters: ChannelParameters, on link: KernelLink,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    guard links.isUp(link) else {
      return context.fail(done, GAPError.notConnected.error("\(link.peer) is not connected"))
    }
    let mode = parameters.mode ?? .leCreditBased
    let signalling = management.index.flatMap { kernel.signalling(of: $0) }
    let signals = ChannelSignals(signalling, handle: link.handle, psm: psm)
    let descriptor: Descriptor
    do throws(SystemError) {
      descriptor = try kernel.channel(
        to: pairing.keys.identity(on: link), psm, mode, receiveMTU: parameters.receiveMTU, from: pairing.keys.local)
    } catch {
      signals.catchUp()
      signals.close()
      return context.fail(done, Self.refusal(error.code, signals.answer, mode))
    }
    let opening = ChannelOpening(descriptor, on: link, in: context) { result in
      signals.close()
      done(result)
    }
    signals.onAnswer = { [pairing, weak link, weak opening] answer in
      guard answer.wantsSecurity, let link, let opening, pairing.endUnasked(on: link) else { return }
      opening.fail(signals.answer.refusal(mode))
    }
    signals.start(
      channel: UInt16(exactly: cbz_channel_number(descriptor.number)).flatMap { $0 == 0 ? nil : $0 }, in: context)
    do throws(SystemError) {
      try descriptor.whenReady(on: context.loop, interest: .writable, priority: .normal) { [context, weak link] _ in
        descriptor.unwatch()
        signals.catchUp()
        guard let link, !link.isOver else {
          return opening.fail(GAPError.disconnected.error("the link has ended"))
        }
        let error = cbz_channel_error(descriptor.number)
        guard error == 0, cbz_att_connection_handle(descriptor.number) == Int32(link.handle) else {
          return opening.fail(Self.refusal(-error, signals.answer, mode))
        }
        opening.succeed(KernelChannel(psm, descriptor, pieces: signals.answer.pieces, on: link, in: context))
      }
    } catch {
      context.scheduler.execute { opening.fail(Self.refusal(error.code, signals.answer, mode)) }
    }
  }

  private static func refusal(_ code: Int32, _ answer: ChannelAnswer, _ mode: ChannelMode) -> BluetoothError {
    switch code {
    case ECONNREFUSED: answer.refusal(mode)
    case ENOPROTOOPT: .withoutEnhancedChannels
    case ETIMEDOUT: GAPError.timeout.error("the device did not answer the request for a channel")
    default: GAPError.connectionFailed.error("no channel on PSM \(answer.psm): \(String(cString: strerror(code)))")
    }
  }
}
