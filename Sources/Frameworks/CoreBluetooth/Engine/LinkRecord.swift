import FrameworkSupport

/// How a manager stands with one peripheral.
///
/// | Phase      | Input                  | Effect                                                                |
/// |------------|------------------------|-----------------------------------------------------------------------|
/// | idle       | connect                | the daemon is asked → connecting                                      |
/// | connecting | it is connected        | didConnect → connected                                                |
/// | connecting | it failed              | didFailToConnect → idle                                               |
/// | connecting | connect, other options | the daemon is asked again                                             |
/// | connecting | cancel                 | the request is cancelled, didDisconnect → idle                        |
/// | connected  | connect                | didConnect again                                                      |
/// | connected  | cancel                 | writes without response leave, the daemon is asked → ending           |
/// | connected  | connect, other options | the daemon is asked; didConnect again                                 |
/// | connected  | the connection ended   | didDisconnect → idle, or if the daemon connects again → connecting    |
/// | connected  | its adapter went off   | nothing yet: the state precedes → lost                                |
/// | lost       | the adapter changed    | didDisconnect, as where the connection ended                          |
/// | lost       | it is connected        | didDisconnect, didConnect → connected                                 |
/// | lost       | connect                | → connecting behind didDisconnect                                     |
/// | lost       | cancel                 | the daemon is asked, didDisconnect → idle                             |
/// | ending     | the connection ended   | didDisconnect → idle, or if connect was called meanwhile → connecting |
final class LinkRecord {
  enum Phase: Equatable {
    case idle, connecting, connected, ending
    case lost(NSError, isReconnecting: Bool)
  }

  weak var peripheral: CBPeripheral?
  /// The object, as long as the program may not have it: it asked for the connection with another manager's.
  var retained: CBPeripheral?
  /// The object's number; a record serves one object.
  let number: Int
  let identifier: UUID
  var phase = Phase.idle
  /// The program as a user of the link: waiting for it, having it, or waiting for its return.
  var user: Int?
  /// The link's adapter.
  var adapter: String?
  /// Incremented by each attempt and each end, to recognise late answers.
  var generation = 0
  /// True if the daemon is to reconnect when the connection drops: as in the last `connect`.
  var reconnectsItself = false
  /// `connect` was called while the connection was ending.
  var isWantedAgain = false
  /// Requests to the device's attributes.
  let requests = CallLane()
  /// The openings of channels, which the device may take long to answer.
  let openings = CallLane()

  init(_ peripheral: CBPeripheral) {
    self.peripheral = peripheral
    number = peripheral.number
    identifier = peripheral.identifier
  }

  /// An attempt begins or the connection ends: waiting requests are void.
  func nextGeneration() {
    generation += 1
    requests.removeAll()
    openings.removeAll()
  }
}

/// Calls made in sequence.
final class CallLane {
  private typealias Call = (isCommand: Bool, send: () -> Void)

  private var waiting: [Call] = []
  /// The call under way.
  private var current: Call?
  /// The number of commands under way since the program gave the connection up, and the step behind them.
  private var last: (count: Int, then: () -> Void)?

  /// A call waits for its turn.
  /// - Parameter isCommand: True for a write without response, which needs no answer from the device.
  func append(isCommand: Bool, _ send: @escaping () -> Void) {
    waiting.append((isCommand, send))
    next()
  }

  /// A call under way is answered.
  func ended(isCommand: Bool) {
    if last != nil {
      if isCommand { endedLast() }
    } else {
      current = nil
      next()
    }
  }

  /// The program gives up the connection: queued commands are sent at once, past the requests, which are void.
  /// - Parameter then: Called when all of them have left; at once if a request is under way.
  func sendCommands(_ then: @escaping () -> Void) {
    let commands = waiting.filter(\.isCommand)
    waiting = []
    // A device that leaves a request unanswered must not delay the end.
    guard current?.isCommand != false else {
      for command in commands { command.send() }
      return then()
    }
    // Plus one, until all are sent.
    last = (commands.count + (current?.isCommand == true ? 2 : 1), then)
    for command in commands { command.send() }
    endedLast()
  }

  /// Empties the queue.
  func removeAll() { (waiting, current, last) = ([], nil, nil) }

  private func endedLast() {
    last?.count -= 1
    if let last, last.count == 0 { last.then() }
  }

  private func next() {
    guard current == nil, !waiting.isEmpty else { return }
    let call = waiting.removeFirst()
    current = call
    call.send()
  }
}
