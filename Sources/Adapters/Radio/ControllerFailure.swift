import HCI

/// The reason why a controller has become unusable.
package enum ControllerFailure: Hashable, CustomStringConvertible {
  /// Neither a command was answered nor the question after it.
  case noAnswer
  /// More commands wait than a working controller leaves.
  case noExecution
  /// A link was reported under this handle, which no link can have.
  case invalidHandle(ConnectionHandle)
  /// More links were reported than are kept.
  case tooManyLinks
  /// A reset was reported without a request.
  case unexpectedReset
  /// The firmware started, and knows no link.
  case beganAnew

  package var description: String {
    switch self {
    case .noAnswer: "it does not respond"
    case .noExecution: "it executes no commands"
    case .invalidHandle(let handle): "it reports a link with the invalid handle 0x\(String(handle, radix: 16))"
    case .tooManyLinks: "it reports more than \(ControllerLinks.limit) links"
    case .unexpectedReset: "it reset itself"
    case .beganAnew: "it began anew"
    }
  }
}
