import BledLoop
import CSystemd
import EventLoop
import Glibc

/// The process of a gateway, on one event loop.
package final class RunningService {
  private let log: ServiceLog
  private let report = ServiceReport()
  private let loop: EventLoop
  private let gateway: any DeviceService
  private var signals: [SignalWatch] = []

  /// - Parameter name: the name of the program.
  package init(_ name: String, _ gateway: any DeviceService, on loop: EventLoop) {
    log = ServiceLog(name)
    self.loop = loop
    self.gateway = gateway
    gateway.say = { [log] in log.say($0) }
    gateway.whenChanged = { [log, report] condition in
      switch condition {
      case .ok(let text):
        report.say(.ok, text)
        log.say(text)
      case .problem(let text):
        report.say(.problem, text)
        log.say(text)
      }
    }
  }

  /// Blocks the signals that `run` awaits, for a program that begins.
  package static func prepare() {
    SignalWatch.block([SIGTERM, SIGINT])
    signal(SIGPIPE, SIG_IGN)
  }

  /// Serves until SIGTERM or SIGINT.
  package func run() throws {
    for signal in [SIGTERM, SIGINT] {
      signals.append(try SignalWatch(signal, on: loop) { [unowned self] in loop.stop() })
    }
    gateway.start()
    sd_notify(0, "READY=1")
    try loop.run()
    gateway.close()
    loop.discard()
  }
}
