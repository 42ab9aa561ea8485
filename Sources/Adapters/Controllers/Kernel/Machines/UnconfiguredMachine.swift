import Adapter
import Bluetooth
import HCI

/// Searches for an absent controller among the unconfigured ones, which the kernel does not use, and gives it the
/// public address that it lacks. A configured controller returns like any other (Index Added).
///
/// | State   | Input                                          | Actions, next state                               |
/// |---------|------------------------------------------------|---------------------------------------------------|
/// | any     | `look`, Unconfigured Index Added               | Read Unconfigured Controller Index List: listing  |
/// | listing | our controller is in the list                  | Read Controller Configuration Information: reading |
/// | listing | it is not                                      | idle                                              |
/// | reading | it lacks an address, and there is one for it   | Set Public Address: setting                       |
/// | reading | it lacks anything else                         | `problem`: idle                                   |
/// | setting | success                                        | idle                                              |
/// | setting | refused                                        | `problem`: idle                                   |
/// | any     | Unconfigured Index Removed of ours             | `problem(nil)`: idle                              |
struct UnconfiguredMachine {
  enum Action: Hashable {
    case send(ManagementPacket)
    /// The reason why the controller cannot be used; nil if that is over.
    case problem(AdapterProblem?)
  }

  private enum State: Hashable { case idle, listing, reading, setting }

  /// The controller; nil unless it is selected by its number: an address selects no controller that has none.
  private let index: ControllerIndex?
  private let publicAddress: DeviceAddress?
  private var state = State.idle

  /// - Parameter publicAddress: the address for a controller that lacks one.
  init(selector: AdapterSelector, publicAddress: DeviceAddress?) {
    if case .index(let number) = selector { index = ControllerIndex(rawValue: number) } else { index = nil }
    self.publicAddress = publicAddress
  }

  /// The controller is not among the usable ones.
  mutating func look() -> [Action] {
    guard index != nil else { return [] }
    state = .listing
    return [.send(ManagementPacket(ReadUnconfiguredIndexList()))]
  }

  /// Handles a packet of the management interface.
  mutating func receive(_ packet: ManagementPacket) -> [Action] {
    guard let index else { return [] }
    switch packet.code {
    case UnconfiguredIndex.added where packet.index == index: return look()
    case UnconfiguredIndex.removed where packet.index == index:
      state = .idle
      return [.problem(nil)]
    default: break
    }
    guard state != .idle, let event = try? ManagementEvent(decoding: packet) else { return [] }
    switch event {
    case .commandComplete(let complete):
      return answered(complete.opcode, complete.status, complete.returnParameters, index)
    case .commandStatus(let status): return answered(status.opcode, status.status, [], index)
    default: return []
    }
  }

  private mutating func answered(
    _ opcode: UInt16, _ status: ManagementStatus, _ octets: [UInt8], _ index: ControllerIndex
  ) -> [Action] {
    switch (opcode, state) {
    case (ReadUnconfiguredIndexList.opcode, .listing):
      state = .idle
      guard status == .success, let list = try? ControllerIndexList(decoding: octets), list.indexes.contains(index)
      else { return [] }
      state = .reading
      return [.send(ManagementPacket(ReadConfigurationInformation(), index: index))]
    case (ReadConfigurationInformation.opcode, .reading):
      state = .idle
      guard status == .success, let information = try? ConfigurationInformation(decoding: octets) else { return [] }
      return configure(information, index)
    case (SetPublicAddress.opcode, .setting):
      state = .idle
      guard status != .success, let publicAddress else { return [] }
      return [
        .problem(
          Self.problem(
            "\(index.name) refused the address \(publicAddress): \(status)",
            "choose another one in `publicAddresses`, or check the kernel log with `dmesg`"))
      ]
    default: return []
    }
  }

  private mutating func configure(_ information: ConfigurationInformation, _ index: ControllerIndex) -> [Action] {
    if information.missing.contains(.external) {
      return [
        .problem(
          Self.problem(
            "the kernel does not use \(index.name): it lacks settings that only its maker's software knows",
            "install that software; `btmgmt config` shows what is missing"))
      ]
    }
    guard information.missing.contains(.publicAddress) else { return [] }
    guard information.supported.contains(.publicAddress) else {
      return [
        .problem(
          Self.problem(
            "the kernel does not use \(index.name): it has no address, and its driver can set none",
            "set the address where its firmware looks for it, such as the device tree"))
      ]
    }
    guard let publicAddress else {
      return [
        .problem(
          Self.problem(
            "the kernel does not use \(index.name): it has no address",
            "give it one in the configuration: \"publicAddresses\": { \"\(index.name)\": \"…\" }"))
      ]
    }
    state = .setting
    return [.send(ManagementPacket(SetPublicAddress { $0.address = publicAddress.value }, index: index))]
  }

  private static func problem(_ message: String, _ remedy: String) -> AdapterProblem {
    AdapterProblem(kind: .hardware, message: message, remedy: remedy)
  }
}
