import BledRPC
import Bluetooth

/// A connection-oriented L2CAP channel: a descriptor that carries its octets. A program that does not read makes the
/// device stop; a program that writes more than the device accepts waits.
public final class L2CAPChannel: Sendable {
  /// Its number, the device, and the longest packets.
  public let description: ChannelDescription
  private let received: ReceivedDescriptor

  init(_ description: ChannelDescription, _ received: ReceivedDescriptor) {
    self.description = description
    self.received = received
  }

  /// Hands over the descriptor, a blocking Unix socket: SOCK_SEQPACKET if packets are kept, else SOCK_STREAM. The
  /// caller closes it, which closes the channel; otherwise the last reference to the channel does.
  /// - Returns: nil if it was taken before.
  public func takeDescriptor() -> Int32? { received.take() }
}

extension Peripheral {
  /// Opens an L2CAP channel to the device.
  /// - Parameters:
  ///   - psm: The number of the device's listener, 1 to 255.
  ///   - security: The required level of the link.
  ///   - receiveMTU: The longest packet that the device may send, 23 to 65535 octets; the daemon's 8192 if nil.
  ///   - mode: The mode of the channel; LE credit-based if nil.
  ///   - packets: True to keep packets; a stream otherwise.
  /// - Throws: `GAPError.connectionFailed` if the device refuses; `.notSupported` if the kernel or the device has
  ///   no enhanced channels; `.notConnected`; `.pairingFailed`; and as `BledClient.call`.
  public func openL2CAPChannel(
    psm: UInt16, security: ChannelSecurity? = nil, receiveMTU: Int? = nil, mode: ChannelMode? = nil,
    packets: Bool = false
  ) async throws(BluetoothError) -> L2CAPChannel {
    let (result, descriptor) = try await client.core.callForDescriptor(
      L2CAPOpen.self,
      .init(
        peripheral: identifier, psm: psm, security: security, receiveMTU: receiveMTU, mode: mode, packets: packets))
    return L2CAPChannel(result, descriptor)
  }
}

extension BledClient {
  /// Listens for L2CAP channels that devices open. Observe `L2CAPIncoming` before, and accept within 30 seconds.
  /// - Parameters:
  ///   - psm: The number, 128 to 255; nil: the daemon chooses.
  ///   - security: The required level of a device's link.
  ///   - receiveMTU: The longest packet that a device may send, 23 to 65535 octets; the daemon's 8192 if nil.
  ///   - mode: The mode in which devices have to open channels; nil: either.
  ///   - adapter: The adapter; nil: the first.
  /// - Throws: `BledError.alreadyInProgress` if the number is taken; `GAPError.notSupported` if the kernel has no
  ///   enhanced channels and `mode` requests them; and as `call`.
  public func publishL2CAPChannel(
    psm: UInt16? = nil, security: ChannelSecurity? = nil, receiveMTU: Int? = nil, mode: ChannelMode? = nil,
    adapter: String? = nil
  ) async throws(BluetoothError) -> L2CAPPublish.Result {
    try await core.call(
      L2CAPPublish.self, .init(psm: psm, security: security, receiveMTU: receiveMTU, mode: mode, adapter: adapter),
      undo: .made { [core] in core.callUnawaited(L2CAPUnpublish.self, .init(psm: $0.psm, adapter: adapter)) })
  }

  /// Ends listening that `publishL2CAPChannel` began. Channels that are open stay.
  /// - Throws: `BledError.unknownHandle` if this client has not published it; and as `call`.
  public func unpublishL2CAPChannel(_ psm: UInt16, adapter: String? = nil) async throws(BluetoothError) {
    _ = try await call(L2CAPUnpublish.self, .init(psm: psm, adapter: adapter))
  }

  /// Accepts a channel that a device opened.
  /// - Parameters:
  ///   - incoming: The channel that `L2CAPIncoming` reported.
  ///   - packets: True to keep packets; a stream otherwise.
  /// - Throws: `BledError.unknownHandle` if it has ended; and as `call`.
  public func accept(
    _ incoming: ChannelDescription, packets: Bool = false
  ) async throws(BluetoothError) -> L2CAPChannel {
    let (result, descriptor) = try await core.callForDescriptor(
      L2CAPAccept.self, .init(channel: incoming.channel, packets: packets))
    return L2CAPChannel(result, descriptor)
  }

  /// Refuses a channel that a device opened, or closes one.
  /// - Throws: `BledError.unknownHandle` if it has ended; and as `call`.
  public func close(_ channel: ChannelDescription) async throws(BluetoothError) {
    _ = try await call(L2CAPClose.self, .init(channel: channel.channel))
  }
}
