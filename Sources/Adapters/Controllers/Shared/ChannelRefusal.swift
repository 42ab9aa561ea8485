import Bluetooth

/// The outcome of a request for a channel that a device does not open (Core 5.4, Vol 3, Part A, 4.1, 4.23 and 4.26).
enum ChannelRefusal: Hashable, Sendable {
  /// The result of a connection response.
  case result(UInt16)
  /// L2CAP_COMMAND_REJECT_RSP: the device does not know the request.
  case rejected
  /// There was no answer in time.
  case noAnswer
  /// The answer was not received.
  case unknown

  /// Why the device refused a channel to this listener, and the remedy.
  func error(_ psm: UInt16, _ mode: ChannelMode) -> BluetoothError {
    let security = "ask with a higher \"security\", or pair with it"
    return switch self {
    case .noAnswer: GAPError.timeout.error("the device did not answer the request for a channel")
    case .rejected where mode == .enhanced:
      GAPError.notSupported.error("the device has no enhanced channels: leave out \"mode\"")
    case .rejected: GAPError.notSupported.error("the device has no L2CAP channels")
    case .result(0x0002): failed("it does not listen on PSM \(psm)")
    case .result(0x0004):
      BledError.limitReached.error(
        "the device refused the channel: it has no room for another one: close some, or try again later")
    case .result(0x0005): failed("PSM \(psm) needs an authenticated link: \(security)")
    case .result(0x0006): failed("it does not let this machine use PSM \(psm): allow it there")
    case .result(0x0007): failed("PSM \(psm) needs a longer key: pair with it anew, with LE Secure Connections")
    case .result(0x0008): failed("PSM \(psm) needs an encrypted link: \(security)")
    case .result(0x0009), .result(0x000A): failed("it has the channel's number in use: disconnect, and connect again")
    case .result(0x000B), .result(0x000C): failed("it does not take these parameters: try another \"receiveMTU\"")
    case .result(let result) where result > 0x000C:
      failed("for the reason 0x\(String(result, radix: 16)), which has no name: see the device's manual")
    case .result, .unknown: failed("it does not listen on PSM \(psm), wants more security, or has no room")
    }
  }

  private func failed(_ why: String) -> BluetoothError {
    GAPError.connectionFailed.error("the device refused the channel: \(why)")
  }
}
