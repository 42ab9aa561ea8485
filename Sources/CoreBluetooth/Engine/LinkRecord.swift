/// How a manager stands with one peripheral.
///
/// | Phase      | Input                   | What happens                                                        |
/// |------------|-------------------------|---------------------------------------------------------------------|
/// | idle       | connect                 | the daemon is asked → connecting                                    |
/// | connecting | it is connected         | didConnect → connected                                              |
/// | connecting | it failed               | didFailToConnect → idle                                             |
/// | connecting | connect, other options  | the daemon is asked again                                           |
/// | connecting | cancel                  | the wish is taken back, didDisconnect → idle                        |
/// | connected  | connect                 | didConnect again                                                    |
/// | connected  | cancel                  | the daemon is asked → ending                                        |
/// | connected  | connect, other options  | the daemon is asked; didConnect again                               |
/// | connected  | the connection ended    | didDisconnect → idle, or if the daemon connects again → connecting  |
/// | ending     | the connection ended    | didDisconnect → idle, or if connect was called meanwhile → connecting |
final class LinkRecord {
  enum Phase { case idle, connecting, connected, ending }

  weak var peripheral: CBPeripheral?
  /// The object's number; a record serves one object.
  let number: Int
  var phase = Phase.idle
  /// Grows with each attempt and each end: answers to what was before are told apart.
  var generation = 0
  /// Whether the daemon is to connect again when the connection drops: as the last `connect` said.
  var reconnectsItself = false
  /// `connect` was called while the phase was ending.
  var isWantedAgain = false
  /// Calls that wait for their turn; one is under way if `isBusy`.
  var waiting: [() -> Void] = []
  var isBusy = false
  /// Whether the device's Service Changed is looked for once nothing else is to be done.
  var watchesServices = WatchState.unwanted

  enum WatchState { case unwanted, wanted, begun }

  init(_ peripheral: CBPeripheral) {
    self.peripheral = peripheral
    number = peripheral.number
  }

  /// An attempt begins or the connection ends: what waits is void.
  func nextGeneration() {
    generation += 1
    waiting = []
    isBusy = false
    watchesServices = .unwanted
  }
}
