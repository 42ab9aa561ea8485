import FoundationEssentials

/// The seed of a random search: the same each time, so that the result of the tests depends on the code alone, or
/// another one each time, to find more.
public enum Seed {
  /// The seed of an environment variable, which is printed.
  /// - Parameters:
  ///   - variable: Its name. It says a number, to repeat a run, or "random".
  ///   - usual: The seed without that variable; nil: a random one.
  public static func named(_ variable: String, otherwise usual: UInt64?) -> UInt64 {
    let text = ProcessInfo.processInfo.environment[variable]
    let fixed = text == "random" ? nil : text.flatMap { UInt64($0) } ?? usual
    let seed = fixed ?? .random(in: 1...999_999_999)
    print("\(variable)=\(seed)")
    return seed
  }
}

/// splitmix64: equal seeds give equal numbers, on every machine.
public struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  /// - Parameter seed: Any number.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
