/// Commands that belong to neither family and can go with each.
public enum AnyFamily {}
/// Scanning, advertising and initiating with the commands of Bluetooth 4.0.
public enum LegacyFamily: CommandFamily {}
/// Scanning, advertising and initiating with the extended commands of Bluetooth 5.0.
public enum ExtendedFamily: CommandFamily {}

/// The two families of scanning, advertising and initiating commands. A controller that got a command of one answers those
/// of the other with Command Disallowed until it is reset (Core 5.4, Vol 4, Part E, 3.1.1). Whoever is generic over
/// the family can therefore only make commands of the one that was chosen for the adapter.
public protocol CommandFamily {}

/// A command that may be sent to a controller that is driven with this family.
public struct FamilyCommand<Family: CommandFamily>: Hashable, Sendable {
  /// The command, ready to be sent.
  public let packet: CommandPacket

  /// A command of the family.
  public init<Command: HCICommand>(_ command: Command) where Command.Family == Family {
    packet = CommandPacket(command)
  }

  /// A command that goes with both families.
  public init<Command: HCICommand>(_ command: Command) where Command.Family == AnyFamily {
    packet = CommandPacket(command)
  }
}
