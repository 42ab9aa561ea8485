/// The number that names an L2CAP channel's listener: Protocol/Service Multiplexer.
public typealias CBL2CAPPSM = UInt16

/// A connection-oriented channel. bled does not open any yet: every request for one is answered with
/// `CBError.operationNotSupported`.
open class CBL2CAPChannel: NSObject {
  private let psmValue: CBL2CAPPSM

  init(psm: CBL2CAPPSM) {
    psmValue = psm
  }

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// The device at the other end.
  open var peer: CBPeer! { nil }

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// What comes from it.
  open var inputStream: InputStream! { nil }

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// What goes to it.
  open var outputStream: OutputStream! { nil }

  /// The number that names the listener.
  open var psm: CBL2CAPPSM { psmValue }
}
