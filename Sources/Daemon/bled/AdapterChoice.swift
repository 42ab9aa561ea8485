import ArgumentParser
import BledCore
import Bluetooth
import Controllers
import Scenarios

/// An adapter as named on the command line or in the configuration.
enum AdapterChoice: Sendable {
  case kernel(AdapterSelector)
  /// Every controller in the machine, including later ones.
  case all
  /// A controller whose host is bled itself.
  case host(ControllerAddress)
  /// Nil if no file was given.
  case simulated(Scenario?)
  /// Like `simulated`, with bled as the host of a controller in memory.
  case virtual(Scenario?)

  /// Parses "hci0", an address, "all", "user:hci1", "h4:TRANSPORT", "simulated", "simulated:FILE", "virtual" or
  /// "virtual:FILE".
  /// - Throws: `FileError` or `ValidationError`, with the remedy.
  init(_ text: String) throws {
    if text == "all" {
      self = .all
    } else if text == "simulated" {
      self = .simulated(nil)
    } else if text.hasPrefix("simulated:") {
      self = .simulated(try Scenario(contentsOf: String(text.dropFirst("simulated:".count))))
    } else if text == "virtual" {
      self = .virtual(nil)
    } else if text.hasPrefix("virtual:") {
      self = .virtual(try Scenario(contentsOf: String(text.dropFirst("virtual:".count))))
    } else if let address = try Self.host(text) {
      self = .host(address)
    } else if let selector = AdapterSelector(text) {
      self = .kernel(selector)
    } else {
      throw ValidationError(
        """
        "\(text)" is not an adapter: give hci0, an address, all, user:hci1, h4:TRANSPORT, simulated, simulated:FILE, \
        virtual or virtual:FILE
        """
      )
    }
  }

  /// The scenario of a simulated adapter; nil for the built-in one, and for other adapters.
  var scenario: Scenario? {
    switch self {
    case .simulated(let scenario), .virtual(let scenario): scenario
    case .kernel, .all, .host: nil
    }
  }

  private static func host(_ text: String) throws(ValidationError) -> ControllerAddress? {
    do throws(TransportAddress.Fault) { return try ControllerAddress(text) } catch {
      throw ValidationError("\"\(text)\" is not an adapter: \(error)")
    }
  }

  /// The number of the controller the kernel is to leave to bled.
  var userChannel: UInt16? { if case .host(.user(let number)) = self { number } else { nil } }

  /// The clock requested by simulated adapters; nil for the machine's.
  /// - Throws: `ValidationError` if they ask for different ones, or a real adapter goes by it, too.
  static func clock(of choices: [AdapterChoice]) throws -> SimulationClock? {
    var clocks: Set<SimulationClock> = []
    var isSimulated = true
    for choice in choices {
      switch choice {
      case .simulated, .virtual: if let clock = choice.scenario?.clock { clocks.insert(clock) }
      case .kernel, .all, .host: isSimulated = false
      }
    }
    guard clocks.count <= 1 else {
      throw ValidationError("the scenarios ask for different clocks: the daemon has one")
    }
    guard clocks.isEmpty || isSimulated else {
      throw ValidationError("\"clock\" in a scenario is for simulated adapters alone: controllers go by the real time")
    }
    return clocks.first
  }

  /// Parses the configuration's adapters.
  /// - Parameter address: the address of a present controller, by its number.
  /// - Throws: like `init`; for a file's errors with their place in it.
  static func list(
    _ adapters: Configuration.Adapters, address: (UInt16) -> DeviceAddress? = Controllers.address
  ) throws -> [AdapterChoice] {
    let choices = try adapters.names.enumerated().map { index, name in
      do {
        return try AdapterChoice(name)
      } catch {
        throw adapters.failure(index, "\(error)") ?? error
      }
    }
    let isAll = choices.contains { if case .all = $0 { true } else { false } }
    if isAll, let index = choices.firstIndex(where: { if case .kernel = $0 { true } else { false } }) {
      let message =
        "\"all\" stands for every adapter of the machine: leave out \"\(adapters.names[index])\", or \"all\""
      throw adapters.failure(index, message) ?? ValidationError(message)
    }
    let isVirtual = choices.contains { if case .virtual = $0 { true } else { false } }
    if isVirtual, let index = choices.firstIndex(where: { if case .simulated = $0 { true } else { false } }) {
      let message = "simulated and virtual adapters have different airs: leave out \"\(adapters.names[index])\""
      throw adapters.failure(index, message) ?? ValidationError(message)
    }
    let taken = Set(choices.compactMap(\.userChannel))
    for (index, choice) in choices.enumerated() {
      guard case .kernel(let selector) = choice,
        let number = taken.first(where: { selector.isController($0, of: address) })
      else { continue }
      let message = "\"\(adapters.names[index])\" and \"user:hci\(number)\" are the same controller: leave out one"
      throw adapters.failure(index, message) ?? ValidationError(message)
    }
    return choices
  }
}

extension AdapterSelector {
  /// True for the controller with that number, as far as known: an absent one may have any address.
  /// - Parameter address: the address of a present controller, by its number.
  func isController(_ number: UInt16, of address: (UInt16) -> DeviceAddress? = Controllers.address) -> Bool {
    switch self {
    case .index(let index): index == number
    case .address(let own): own == address(number)
    }
  }
}
