import Foundation

/// A stream's events for its delegate, and when they are due. "Ready" means octets to read, or room to write.
///
/// | State          | Input                                | Effect                                                 |
/// |----------------|--------------------------------------|--------------------------------------------------------|
/// | not open       | open                                 | openCompleted is due → open                            |
/// | open           | the delegate's turn, and it is ready | hasBytesAvailable or hasSpaceAvailable → reported      |
/// | reported       | the program reads or writes          | → open                                                 |
/// | open, reported | the end or an error is found         | endEncountered or errorOccurred is due → at end, error |
/// | any            | close                                | no more reports → closed                               |
struct StreamMachine {
  /// The result of checking the socket, a read or a write.
  enum Finding {
    case nothing
    /// Octets or room; this number was passed.
    case ready(Int)
    case end
    /// An errno.
    case failed(Int32)
  }

  private(set) var status = Stream.Status.notOpen
  private(set) var error: NSError?
  /// The event for the readiness.
  private let ready: Stream.Event
  private var untold: [Stream.Event] = []
  private var isTold = false

  init(ready: Stream.Event) { self.ready = ready }

  /// True if the socket is to be watched for the next event.
  var isWatching: Bool { status == .open && !isTold }

  mutating func open() {
    guard status == .notOpen else { return }
    status = .open
    untold.append(.openCompleted)
  }

  mutating func close() {
    status = .closed
    untold = []
  }

  /// The program has read or written, or the end was found elsewhere.
  mutating func found(_ finding: Finding) {
    guard status == .open else { return }
    switch finding {
    case .nothing: break
    case .ready: isTold = false
    case .end:
      status = .atEnd
      untold.append(.endEncountered)
    case .failed(let code):
      status = .error
      error = NSError(domain: NSPOSIXErrorDomain, code: Int(code))
      untold.append(.errorOccurred)
    }
  }

  /// The next event for the delegate; nil if there is none for now.
  mutating func next(_ look: () -> Finding) -> Stream.Event? {
    if untold.isEmpty, isWatching {
      let finding = look()
      if case .ready = finding {
        isTold = true
        return ready
      }
      found(finding)
    }
    return untold.isEmpty ? nil : untold.removeFirst()
  }
}
