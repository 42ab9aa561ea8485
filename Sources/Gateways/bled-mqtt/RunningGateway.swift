import ArgumentParser
import BledConnection
import BledLoop
import CMosquitto
import CSystemd
import EventLoop
import Glibc
import MQTTGateway

/// The process: bled's socket and the broker on one event loop.
final class RunningGateway {
  /// Time for the last messages, in nanoseconds.
  private static let goodbye: Int64 = 2_000_000_000
  /// The pause between two lines about the spool, in nanoseconds.
  private static let pause: Int64 = 60_000_000_000

  private let log = ServiceLog("bled-mqtt")
  private let loop: EventLoop
  private let gateway: Gateway
  private let broker: BrokerLink
  private let spool: Spool?
  private var signals: [SignalWatch] = []
  private var spoolSaid: Int64?

  /// - Parameter stateDirectory: where messages are kept while the broker is away; nil: nowhere.
  init(_ settings: Settings, socket: ServiceOptions, stateDirectory: String?, loop: EventLoop) throws {
    self.loop = loop
    mosquitto_lib_init()
    do {
      spool = try stateDirectory.map {
        try Spool(SpoolFolder("\($0)/spool"), limit: settings.configuration.spoolLimit)
      }
    } catch {
      throw ValidationError("the spool cannot be used: \(error)")
    }
    gateway = Gateway(
      settings.configuration, SocketConnector(path: socket.socketPath, on: LoopSockets(loop)), loop, spool: spool,
      names: settings.names)
    broker = BrokerLink(settings, gateway, loop) { [log] in log.say($0) }
    gateway.say = { [log] in log.say($0) }
    if let fault = settings.namesFault { log.say("\(fault); the names of this file are not used") }
    spool?.happened = { [unowned self] in happened($0) }
  }

  /// Works until SIGTERM or SIGINT.
  func run() throws {
    for signal in [SIGTERM, SIGINT] {
      signals.append(try SignalWatch(signal, on: loop) { [unowned self] in stop() })
    }
    gateway.start()
    broker.start()
    sd_notify(0, "READY=1")
    try loop.run()
    broker.disconnect()
    loop.discard()
  }

  private func stop() {
    gateway.close()
    _ = loop.schedule(at: EventLoop.now + Self.goodbye) { [unowned self] in loop.stop() }
    broker.close()
  }

  private func happened(_ event: Spool.Event) {
    if let spoolSaid, EventLoop.now - spoolSaid < Self.pause { return }
    spoolSaid = EventLoop.now
    switch event {
    case .full:
      log.say("the spool is full, so the oldest messages go: \(spool?.counters.dropped ?? 0) so far")
    case .unwritable(let reason):
      log.say("the spool cannot be written, so messages are lost: \(reason)")
    case .damaged(let number):
      log.say("file \(number) of the spool is damaged: it is moved aside, and its messages are not sent")
    }
  }
}
