import BledConnection
import Bluetooth

/// The bus, bled, the clock and the object tree, shared by all parts of the facade.
final class Context {
  let bus: any Bus
  let clock: any Scheduler
  let connector: any DaemonConnector
  let sockets: any PacketSocketOpener
  var tree = ObjectTree()
  /// Writes a line to the log.
  var say: (String) -> Void = { _ in }

  init(bus: any Bus, clock: any Scheduler, connector: any DaemonConnector, sockets: any PacketSocketOpener) {
    self.bus = bus
    self.clock = clock
    self.connector = connector
    self.sockets = sockets
  }

  /// Sends the signals of all changes so far.
  func flush() {
    for signal in tree.flush() { send(signal, to: nil) }
  }

  /// Sends a signal to one program alone, after all earlier signals.
  func signal(_ client: String, _ signal: ObjectTree.Signal) {
    flush()
    send(signal, to: client)
  }

  private func send(_ signal: ObjectTree.Signal, to destination: String?) {
    bus.signal(signal.path, signal.interface.rawValue, signal.member, signal.arguments, to: destination)
  }

  /// Answers a call; the signals of all its changes are sent before.
  func reply(_ call: BusCall, _ values: BusValue...) {
    flush()
    bus.reply(call, values)
  }

  func fail(_ call: BusCall, _ error: BusError) {
    flush()
    bus.fail(call, error)
  }

  /// Answers a call without values, or with the error.
  func finish<Value>(_ call: BusCall, _ result: Result<Value, BusError>) {
    switch result {
    case .success: reply(call)
    case .failure(let error): fail(call, error)
    }
  }

  /// Does `work` later, and sends the signals of its changes.
  func schedule(after delay: Duration, _ work: @escaping () -> Void) -> any ScheduledWork {
    clock.schedule(after: delay) { [weak self] in
      work()
      self?.flush()
    }
  }
}
