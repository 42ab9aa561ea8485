import JSONFiles

/// The clock of a scenario, and of the whole daemon with it.
public enum SimulationClock: Hashable, Sendable {
  /// This many times as fast as the machine's, 1 to 1000.
  case times(Double)
  /// The clock stands still until `simulation.advance` moves it.
  case manual

  /// Reads "manual" or a factor.
  /// - Throws: the fault and its place.
  package init(_ value: FileValue) throws(FileError) {
    if value.isNumber {
      self = .times(try value.number(in: 1...1000))
    } else if try value.text() == "manual" {
      self = .manual
    } else {
      throw value.failure("this is not a clock: give \"manual\", or how many times as fast it goes, 1 to 1000")
    }
  }
}
