import BledConnection
import BledLoop
import CSystemd
import EventLoop
import Glibc
import HIDGateway

/// The process: the files of the kernel's devices and bled's socket on one event loop.
final class RunningGateway {
  private let log = ServiceLog("bled-hid")
  private let report = ServiceReport()
  private let loop: EventLoop
  private let gateway: Gateway
  private var signals: [SignalWatch] = []

  init(socket: ServiceOptions, memory: MemoryFile, loop: EventLoop) {
    self.loop = loop
    gateway = Gateway(
      SocketConnector(path: socket.socketPath, on: LoopSockets(loop)), loop, DeviceFiles(path: "/dev/uhid", on: loop),
      memory)
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

  /// Serves until SIGTERM or SIGINT.
  func run() throws {
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
