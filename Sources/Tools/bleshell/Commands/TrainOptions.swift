import ArgumentParser
import BledRPC
import Bluetooth

/// Options of `bleshell advertise` for a train with responses of devices.
struct TrainOptions: ParsableArguments {
  @Option(
    help: """
      Periodic advertising to which devices respond, with this many subevents in an interval, 1 to 128; implies \
      --extended and --not-connectable.
      """)
  var subevents: Int?
  @Option(help: "With --subevents: how many slots for responses a subevent has, 1 to 255 (default: 4).")
  var slots: Int?
  @Option(help: "With --subevents: the time between two subevents in seconds, 0.0075 to 0.31875 (default: all of it).")
  var subeventInterval: Double?
  @Option(help: "With --subevents: the time from a subevent to its first slot in seconds (default: a quarter of it).")
  var slotDelay: Double?
  @Option(help: "With --subevents: the time between two slots in seconds (default: all that is left).")
  var slotSpacing: Double?
  @Option(
    name: .customLong("send"),
    help: "With --subevents: send this in a subevent of each interval, as SUBEVENT=HEX; can be repeated.")
  var sends: [String] = []

  /// The shortest time between two subevents, in seconds.
  private static let shortest = 0.0075

  /// True if a command with them exchanges data until it is ended.
  var isExchange: Bool { !sends.isEmpty }

  /// The slots of a train; nil without `--subevents`.
  /// - Parameter interval: The time between two packets of the train, in seconds.
  func responses(within interval: Double) throws -> AdvertisingStart.ResponseSlots? {
    guard let subevents else {
      guard slots == nil, subeventInterval == nil, slotDelay == nil, slotSpacing == nil, sends.isEmpty else {
        throw Failure("--slots, --send and the times of subevents go with --subevents", status: 64)
      }
      return nil
    }
    guard (1...128).contains(subevents) else { throw Failure("--subevents must be 1 to 128", status: 64) }
    guard (1...255).contains(slots ?? 4) else { throw Failure("--slots must be 1 to 255", status: 64) }
    let count = slots ?? 4
    guard subeventInterval != nil || interval / Double(subevents) > Self.shortest - 0.000001 else {
      let least = shortNumber((Double(subevents) * Self.shortest * 1000).rounded(.up) / 1000)
      throw Failure("--subevents \(subevents) goes with a --periodic-interval of at least \(least)", status: 64)
    }
    // In the units of the controller, so that all fit.
    let time = subeventInterval ?? min(Self.floored(interval / Double(subevents), to: 0.00125), 0.31875)
    let delay = slotDelay ?? max(0.00125, Self.floored(time / 4, to: 0.00125))
    let spacing = slotSpacing ?? min(Self.floored((time - delay) / Double(count), to: 0.000125), 0.031875)
    return .init(subevents: subevents, subeventInterval: time, slotDelay: delay, slotSpacing: spacing, slots: count)
  }

  /// A whole number of units; a number that is one but for its last digits stays.
  private static func floored(_ seconds: Double, to unit: Double) -> Double {
    (seconds / unit + 0.000001).rounded(.down) * unit
  }

  /// The data of subevents.
  func data() throws -> [(subevent: Int, data: HexBytes)] {
    let all: [(subevent: Int, data: HexBytes)] = try sends.map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let subevent = Int(parts[0]), (0..<(subevents ?? 0)).contains(subevent) else {
        throw Failure("--send must be SUBEVENT=HEX, such as 0=0102, with a subevent of the train", status: 64)
      }
      return (subevent, HexBytes(try octets(String(parts[1]))))
    }
    guard Set(all.map(\.subevent)).count == all.count else {
      throw Failure("--send must name each subevent once: a subevent has one packet in an interval", status: 64)
    }
    return all
  }
}
