import HCI

extension ControllerProfile {
  /// The LE events to unmask (Core 5.4, Vol 4, Part E, 7.8.1): those unmasked by the kernel for the controller's
  /// features and commands, and those for synchronisation, subrating, connection rates and monitored advertisers, which
  /// it does not unmask for every controller. For our own host also the events of every controller: one without the
  /// central role reports links as peripheral by the event for a command it lacks.
  package var eventMask: UInt64 {
    var bits: Set<Int> = isExclusive ? Set(0...4) : []
    for (feature, events) in Self.featureEvents where features.rawValue & 1 << feature != 0 { bits.formUnion(events) }
    for (octet, mask, event) in Self.commandEvents where has(octet: octet, bits: mask) { bits.insert(event) }
    if scansExtended { bits.insert(12) }
    if advertisesExtended { bits.insert(17) }
    // Sync Established, Report, Sync Lost.
    if canSynchronise { bits.formUnion([13, 14, 15]) }
    // Their reports and their loss.
    if canReceiveTrains { bits.formUnion([14, 15]) }
    // Events for trains with subevents, in their second versions.
    if canRespond { bits.formUnion(canReceiveTrains ? [35, 36, 37] : [35, 36]) }
    if canSubrate { bits.insert(34) }
    if canShorten { bits.insert(54) }
    if canMonitor { bits.insert(51) }
    // Subevent Data Request, Response Report.
    if hasPeriodicResponses { bits.formUnion([38, 39]) }
    return bits.reduce(0) { $0 | 1 << UInt64($1) }
  }

  /// A feature's bit, and its events' bits.
  private static var featureEvents: [(UInt64, [Int])] {
    [
      (0, [4]), (1, [5]), (5, [6]), (6, [9, 10]), (7, [10]), (12, [9]), (14, [19]),
      // Transfer of synchronisation, Channel Sounding, the extended feature set.
      (25, [23]), (46, Array(43...50)), (63, [42]),
      // Isochronous channels: connected central, connected peripheral, broadcaster.
      (28, [24]), (29, [24, 25]), (30, [26, 27, 28, 29, 33]), (31, [13, 14, 28, 29, 33]),
    ]
  }

  /// A command's octet and bits, and its event.
  private static var commandEvents: [(Int, UInt8, Int)] {
    [
      (26, 0x08, 1), (26, 0x10, 0), (27, 0x04, 2), (27, 0x20, 3), (34, 0x02, 7), (34, 0x04, 8), (35, 0x20, 11),
      (35, 0x40, 11),
    ]
  }
}
