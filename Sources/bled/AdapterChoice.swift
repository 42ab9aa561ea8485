import ArgumentParser
import KernelAdapter
import SimulatedAdapter

/// One adapter as the command line or the configuration names it.
enum AdapterChoice: Sendable {
  case kernel(AdapterSelector)
  /// Every controller of the machine, including those that appear later.
  case all
  /// Nil if no file was given.
  case simulated(Scenario?)

  /// Parses "hci0", an address, "all", "simulated" or "simulated:FILE".
  /// - Throws: `FileError` or `ValidationError`, which say what to do.
  init(_ text: String) throws {
    if text == "all" {
      self = .all
    } else if text == "simulated" {
      self = .simulated(nil)
    } else if text.hasPrefix("simulated:") {
      self = .simulated(try Scenario(contentsOf: String(text.dropFirst("simulated:".count))))
    } else if let selector = AdapterSelector(text) {
      self = .kernel(selector)
    } else {
      throw ValidationError("\"\(text)\" is not an adapter: give hci0, an address, all, simulated or simulated:FILE")
    }
  }

  /// Parses a list of them.
  /// - Throws: the same.
  static func list(_ texts: [String]) throws -> [AdapterChoice] {
    let choices = try texts.map { try AdapterChoice($0) }
    let isAll = choices.contains { if case .all = $0 { true } else { false } }
    let named = zip(texts, choices).first { if case .kernel = $0.1 { true } else { false } }?.0
    if isAll, let named {
      throw ValidationError("\"all\" stands for every adapter of the machine: leave out \"\(named)\", or \"all\"")
    }
    return choices
  }
}
