import Adapter
import Bluetooth
import CBlueZ
import EventLoop
import Glibc

/// A number under which devices open channels.
struct KernelChannelListener {
  let parameters: ChannelParameters
  /// Nil while the controller is not in use.
  var descriptor: Descriptor?
}

extension KernelAdapter {
  /// How long the other side may take to answer a request for a channel; the kernel itself gives up after 40 s.
  private static let patience = Duration.seconds(45)
  /// How many packets of signalling are looked at for the device's answer.
  private static let mostSignals = 64

  /// Listens for channels.
  public func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    // The kernel itself gives numbers from the lowest on, to sockets that connect as well.
    let candidates = psm.map { [$0] } ?? ChannelParameters.dynamic.reversed()
    for psm in candidates where channelListeners[psm] == nil {
      var listener = KernelChannelListener(parameters: parameters)
      if radio != nil {
        do throws(SystemError) {
          listener.descriptor = try listen(psm, parameters)
        } catch {
          if error.code == EADDRINUSE { continue }
          if error.code == ENOPROTOOPT { throw Self.withoutEnhanced }
          throw GAPError.adapterFailed.error("No channels on PSM \(psm): \(String(cString: strerror(error.code))).")
        }
      }
      channelListeners[psm] = listener
      return psm
    }
    if let psm {
      throw BledError.alreadyInProgress.error("PSM \(psm) is taken on \(information.id): leave it out for a free one.")
    }
    throw BledError.limitReached.error("All numbers for channels are taken on \(information.id).")
  }

  /// Whether this process may listen under a number, for enhanced channels, and the kernel has those. Numbers below
  /// 0x80 take CAP_NET_BIND_SERVICE.
  public static func mayListen(on psm: UInt16) -> Bool {
    let anywhere = [UInt8](repeating: 0, count: 6)
    let number = cbz_channel_socket(anywhere, 0, psm, UInt16(ChannelMode.enhanced.lengths.lowerBound))
    guard number >= 0 else { return false }
    let socket = Descriptor(number)
    defer { socket.close() }
    return cbz_channel_is_enhanced(socket.number) >= 0
  }

  /// Ends listening.
  public func unpublishChannel(_ psm: UInt16) { channelListeners.removeValue(forKey: psm)?.descriptor?.close() }

  /// The controller is in use again, maybe with another address.
  func listenForChannels() {
    for (psm, listener) in channelListeners {
      listener.descriptor?.close()
      do throws(SystemError) {
        channelListeners[psm]?.descriptor = try listen(psm, listener.parameters)
      } catch {
        channelListeners[psm]?.descriptor = nil
        logger.warning("no channels can be opened", metadata: ["psm": "\(psm)", "errno": "\(error.code)"])
      }
    }
  }

  private func listen(_ psm: UInt16, _ parameters: ChannelParameters) throws(SystemError) -> Descriptor {
    let new = Descriptor(
      try SystemError.check(
        cbz_channel_socket(
          address.littleEndian, address.kind.rawValue, psm, UInt16(clamping: parameters.receiveMTU))))
    // A listener takes both modes; its own is what the kernel tells of channels in the other one, too.
    if parameters.mode == .enhanced { _ = try SystemError.check(cbz_channel_is_enhanced(new.number)) }
    if parameters.level > 1 {
      _ = try SystemError.check(cbz_att_set_security(new.number, UInt8(clamping: parameters.level)))
    }
    KernelChannel.setReceiveBuffer(of: new)
    _ = try SystemError.check(cbz_att_listen(new.number, 8))
    try new.whenReady(on: loop, priority: .normal) { [weak self] _ in self?.acceptChannel(psm) }
    return new
  }

  private func acceptChannel(_ psm: UInt16) {
    guard let descriptor = channelListeners[psm]?.descriptor else { return }
    var octets = [UInt8](repeating: 0, count: 6)
    var type: UInt8 = 0
    let number = cbz_att_accept(descriptor.number, &octets, &type)
    guard number >= 0 else {
      guard number == -EMFILE || number == -ENFILE || number == -ENOMEM else { return }
      logger.warning("a channel could not be accepted", metadata: ["errno": "\(-number)"])
      // It keeps waiting; nothing signals when there is room.
      descriptor.interest = []
      scheduler.schedule(after: .milliseconds(500)) { [weak descriptor] in descriptor?.interest = .readable }
      return
    }
    let accepted = Descriptor(number)
    let handle = cbz_att_connection_handle(number)
    guard handle >= 0 else { return accepted.close() }
    // A device may open a channel before it says anything else.
    if links[UInt16(handle)] == nil { acceptLinks() }
    guard let link = links[UInt16(handle)] else { return accepted.close() }
    let channel = KernelChannel(psm, accepted, on: link, adapter: self)
    // The link itself may have to be announced before.
    loop.execute { link.opened(channel) }
  }

  /// Whether the kernel has enhanced channels, and they are switched on.
  var hasEnhancedChannels: Bool {
    let number = cbz_channel_socket(
      address.littleEndian, address.kind.rawValue, 0, UInt16(ChannelMode.enhanced.lengths.lowerBound))
    guard number >= 0 else { return false }
    let socket = Descriptor(number)
    defer { socket.close() }
    return cbz_channel_is_enhanced(socket.number) >= 0
  }

  /// Opens a channel to a listener of a device.
  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters, on link: KernelLink,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    guard radio != nil, links[link.handle] === link else {
      return loop.execute { done(.failure(GAPError.notConnected.error("\(link.peer) is not connected."))) }
    }
    let opening = ChannelOpening(done)
    let mode = parameters.mode ?? .leCreditBased
    let signalling = index.map { cbz_hci_signalling($0.rawValue) }.flatMap { $0 < 0 ? nil : Descriptor($0) }
    var answer = ChannelAnswer(handle: link.handle, psm: psm)
    do throws(SystemError) {
      let descriptor = Descriptor(
        try SystemError.check(
          cbz_channel_socket(address.littleEndian, address.kind.rawValue, 0, UInt16(clamping: parameters.receiveMTU))))
      if mode == .enhanced { _ = try SystemError.check(cbz_channel_set_enhanced(descriptor.number)) }
      KernelChannel.setReceiveBuffer(of: descriptor)
      let peer = identity(on: link)
      let result = cbz_channel_connect(descriptor.number, peer.littleEndian, peer.kind.rawValue, psm)
      if result != -EINPROGRESS { _ = try SystemError.check(result) }
      answer.channel = UInt16(exactly: cbz_channel_number(descriptor.number)).flatMap { $0 == 0 ? nil : $0 }
      opening.alarm = scheduler.schedule(after: Self.patience) {
        descriptor.close()
        opening.finish(.failure(GAPError.timeout.error("The device did not answer the request for a channel.")))
      }
      try descriptor.whenReady(on: loop, interest: .writable, priority: .normal) { [weak self, weak link] _ in
        descriptor.unwatch()
        Self.hear(&answer, over: signalling)
        guard let self, let link, links[link.handle] === link else {
          descriptor.close()
          return opening.finish(.failure(GAPError.disconnected.error("The link has ended.")))
        }
        let error = cbz_channel_error(descriptor.number)
        guard error == 0, cbz_att_connection_handle(descriptor.number) == Int32(link.handle) else {
          descriptor.close()
          return opening.finish(.failure(Self.refusal(-error, answer, mode)))
        }
        opening.finish(.success(KernelChannel(psm, descriptor, pieces: answer.pieces, on: link, adapter: self)))
      }
    } catch {
      Self.hear(&answer, over: signalling)
      loop.execute { [answer] in opening.finish(.failure(Self.refusal(error.code, answer, mode))) }
    }
  }

  private static func hear(_ answer: inout ChannelAnswer, over signalling: Descriptor?) {
    var packet = [UInt8](repeating: 0, count: 64)
    for _ in 0..<mostSignals {
      guard let length = try? signalling?.read(into: &packet) else { return }
      answer.handle(Array(packet[..<length]))
    }
  }

  private static func refusal(_ code: Int32, _ answer: ChannelAnswer, _ mode: ChannelMode) -> BluetoothError {
    switch code {
    case ECONNREFUSED: answer.refusal(mode)
    case ENOPROTOOPT: withoutEnhanced
    case ETIMEDOUT: GAPError.timeout.error("The device did not answer the request for a channel.")
    default: GAPError.connectionFailed.error("No channel on PSM \(answer.psm): \(String(cString: strerror(code))).")
    }
  }

  private static var withoutEnhanced: BluetoothError {
    GAPError.notSupported.error(
      """
      Enhanced channels are switched off in this kernel, or unknown to it: as root, write 1 to \
      /sys/module/bluetooth/parameters/enable_ecred, for good with bluetooth.enable_ecred=1 on its command line; or \
      leave out "mode".
      """)
  }
}

/// A channel that is being opened: its outcome is told once.
private final class ChannelOpening {
  var alarm: (any ScheduledWork)?
  private var done: ((Result<any Channel, BluetoothError>) -> Void)?

  init(_ done: @escaping (Result<any Channel, BluetoothError>) -> Void) { self.done = done }

  func finish(_ result: Result<any Channel, BluetoothError>) {
    alarm?.cancel()
    let tell = done
    done = nil
    tell?(result)
  }
}
