import BledClient
import FrameworkSupport

/// The number of an L2CAP channel's listener: Protocol/Service Multiplexer.
public typealias CBL2CAPPSM = UInt16

/// A connection-oriented channel. It is closed when both streams are closed, or released.
open class CBL2CAPChannel: NSObject {
  private let peerValue: CBPeer
  private let psmValue: CBL2CAPPSM
  private let input: ChannelInputStream
  private let output: ChannelOutputStream

  /// - Parameter descriptor: A stream socket with the channel's octets, which is taken.
  init(to peer: CBPeer, psm: CBL2CAPPSM, _ descriptor: ReceivedDescriptor) {
    peerValue = peer
    psmValue = psm
    let socket = DispatchSocket(descriptor.take() ?? -1)
    input = ChannelInputStream(socket)
    output = ChannelOutputStream(socket)
    // The reading side sees the end for both.
    input.events.onEnd = { [weak events = output.events] in events?.otherEnded() }
  }

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// The device at the other end: a `CBPeripheral` or a `CBCentral`.
  open var peer: CBPeer! { peerValue }

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// The octets from the peer.
  open var inputStream: InputStream! { input }

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// The octets for the peer.
  open var outputStream: OutputStream! { output }

  /// The listener's number.
  open var psm: CBL2CAPPSM { psmValue }
}
