import Adapter
import ArgumentParser
import Bluetooth
import KernelAdapter
import Logging
import NIOCore
import SimulatedAdapter

/// One adapter as the command line or the configuration names it.
enum AdapterChoice: Sendable {
  case kernel(AdapterSelector)
  /// Nil if no file was named.
  case simulated(Scenario?)

  /// Understands "hci0", an address, "simulated" or "simulated:FILE".
  /// - Throws: `ValidationError` or `ScenarioError`, which say what to do.
  init(_ text: String) throws {
    if text == "simulated" {
      self = .simulated(nil)
    } else if text.hasPrefix("simulated:") {
      self = .simulated(try Scenario(contentsOf: String(text.dropFirst("simulated:".count))))
    } else if let selector = AdapterSelector(text) {
      self = .kernel(selector)
    } else {
      throw ValidationError("\"\(text)\" names no adapter: give hci0, an address, simulated or simulated:FILE")
    }
  }

  /// Makes the adapter. To be called on the loop.
  /// - Parameters:
  ///   - number: how many simulated ones there were before. A further one without a file brings no devices along.
  ///   - air: where the simulated ones are: they hear each other.
  func make(number: Int, on eventLoop: any EventLoop, _ scheduler: any Scheduler, air: Air) -> any Adapter {
    switch self {
    case .kernel(let selector):
      KernelAdapter(
        selector: selector, eventLoop: eventLoop, scheduler: scheduler, logger: Logger(label: "bled.kernel"))
    case .simulated(let scenario):
      SimulatedAdapter(
        id: number == 0 ? "simulated" : "simulated\(number)",
        scenario: scenario ?? (number == 0 ? .builtin : .empty), scheduler: scheduler,
        seed: UInt64.random(in: .min ... .max), logger: Logger(label: "bled.simulated"), air: air)
    }
  }
}
