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
  case simulated(Scenario)

  /// Understands "hci0", an address, "simulated" or "simulated:FILE".
  /// - Throws: `ValidationError` or `ScenarioError`, which say what to do.
  init(_ text: String) throws {
    if text == "simulated" {
      self = .simulated(.builtin)
    } else if text.hasPrefix("simulated:") {
      self = .simulated(try Scenario(contentsOf: String(text.dropFirst("simulated:".count))))
    } else if let selector = AdapterSelector(text) {
      self = .kernel(selector)
    } else {
      throw ValidationError("\"\(text)\" names no adapter: give hci0, an address, simulated or simulated:FILE")
    }
  }

  /// Makes the adapter. To be called on the loop.
  /// - Parameter number: how many simulated ones there were before.
  func make(number: Int, on eventLoop: any EventLoop, _ scheduler: any Scheduler) -> any Adapter {
    switch self {
    case .kernel(let selector):
      KernelAdapter(
        selector: selector, eventLoop: eventLoop, scheduler: scheduler, logger: Logger(label: "bled.kernel"))
    case .simulated(let scenario):
      SimulatedAdapter(
        id: number == 0 ? "simulated" : "simulated\(number)", scenario: scenario, scheduler: scheduler,
        seed: UInt64.random(in: .min ... .max), logger: Logger(label: "bled.simulated"))
    }
  }
}
