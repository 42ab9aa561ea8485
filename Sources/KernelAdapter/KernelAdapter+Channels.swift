import Adapter
import Bluetooth
import CBlueZ
import EventLoop
import Glibc

extension KernelAdapter {
  /// How many packets of signalling are looked at for the device's answer.
  private static let mostSignals = 64

  /// Listens for channels.
  public func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    try channelListeners.publish(psm, parameters, at: radio == nil ? nil : address, of: information.id)
  }

  /// Ends listening.
  public func unpublishChannel(_ psm: UInt16) { channelListeners.unpublish(psm) }

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

  /// A device opened a channel.
  func accepted(_ psm: UInt16, _ descriptor: Descriptor, _ handle: UInt16) {
    // A device may open a channel before it says anything else.
    if links[handle] == nil { acceptLinks() }
    guard let link = links[handle] else { return descriptor.close() }
    let channel = KernelChannel(psm, descriptor, on: link, adapter: self)
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
    guard isUp(link) else {
      return loop.execute { done(.failure(GAPError.notConnected.error("\(link.peer) is not connected."))) }
    }
    let mode = parameters.mode ?? .leCreditBased
    let signalling = index.map { cbz_hci_signalling($0.rawValue) }.flatMap { $0 < 0 ? nil : Descriptor($0) }
    var answer = ChannelAnswer(handle: link.handle, psm: psm)
    let descriptor: Descriptor
    do throws(SystemError) {
      descriptor = try kernel.channel(
        to: identity(on: link), psm, mode, receiveMTU: parameters.receiveMTU, from: address)
    } catch {
      Self.hear(&answer, over: signalling)
      return loop.execute { [answer] in done(.failure(Self.refusal(error.code, answer, mode))) }
    }
    answer.channel = UInt16(exactly: cbz_channel_number(descriptor.number)).flatMap { $0 == 0 ? nil : $0 }
    let opening = ChannelOpening(descriptor, on: scheduler, done)
    link.began(opening)
    do {
      try descriptor.whenReady(on: loop, interest: .writable, priority: .normal) { [weak self, weak link] _ in
        descriptor.unwatch()
        Self.hear(&answer, over: signalling)
        guard let self, let link, links[link.handle] === link else {
          return opening.fail(GAPError.disconnected.error("The link has ended."))
        }
        let error = cbz_channel_error(descriptor.number)
        guard error == 0, cbz_att_connection_handle(descriptor.number) == Int32(link.handle) else {
          return opening.fail(Self.refusal(-error, answer, mode))
        }
        opening.succeed(KernelChannel(psm, descriptor, pieces: answer.pieces, on: link, adapter: self))
      }
    } catch {
      loop.execute { [answer] in opening.fail(Self.refusal(error.code, answer, mode)) }
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
    case ENOPROTOOPT: .withoutEnhancedChannels
    case ETIMEDOUT: GAPError.timeout.error("The device did not answer the request for a channel.")
    default: GAPError.connectionFailed.error("No channel on PSM \(answer.psm): \(String(cString: strerror(code))).")
    }
  }
}
