import Adapter
import Bluetooth
import HCI

/// Makes the kernel generate a private address, and learns it. Makes the kernel assume that incoming links reached us
/// under the kind of address that we use.
///
/// The kernel's SMP assumes that a link initiated by another program comes from the kernel's last private address,
/// which it does not reveal. It makes one for each new advertisement; a controller with legacy commands gets one with a
/// discovery, if the last one is 15 minutes old. So an advertisement is prepared and removed, or a discovery started
/// and stopped, and the address is read from the kernel's command to the controller.
///
/// For incoming links it assumes the address kind of its last prepared advertisement: since September 2025 the commands
/// of other programs do not count, except legacy ones. Kernels after 6.12 leave the address of their advertisement to a
/// controller that can make addresses, and ours are of another kind. But limited privacy, which `ControllerSettings`
/// requests, has an exception: while bonds are accepted, a discoverable advertisement that is not connectable has a
/// random address from the kernel, and the private address stays.
///
/// | State    | Input                                | Actions and next state                                   |
/// |----------|--------------------------------------|----------------------------------------------------------|
/// | idle     | `begin`                              | clear: clearing                                          |
/// | clearing | any answer                           | make: making                                             |
/// | making, ending | the command with the random address | it is remembered                                    |
/// | making, ending | the command with the kind of address | it is remembered                                   |
/// | making   | any answer                           | clear: ending                                            |
/// | ending   | any answer                           | `done` with the address, nil if there was none: idle     |
/// | ending   | any answer, the address is left to the controller | allow bonds, make a discoverable one: settling |
/// | settling | any answer                           | bonds as they were, clear: settled                       |
/// | settled  | any answer                           | `done` with the address: idle                            |
/// | any      | `tick` after the deadline            | `done` with the known address: idle                      |
/// | settling | `tick` after the deadline            | bonds as they were and clear, too                        |
/// | settling | `closing`                            | bonds as they were                                       |
///
/// |       | extended                                     | legacy                                           |
/// |-------|----------------------------------------------|--------------------------------------------------|
/// | clear | Remove Advertising                           | Stop Discovery, as which an active scan counts   |
/// | make  | Add Extended Advertising Parameters          | Start Discovery                                  |
/// | read  | LE Set Advertising Set Random Address, LE Set Extended Advertising Parameters | LE Set Random Address |
///
/// The command and the answers arrive over two sockets. Commands that the kernel sent before an answer have been
/// received when it answers the next.
struct PrivateAddressMachine {
  enum Action: Hashable {
    case send(Request)
    /// The address that the kernel made; nil if it made none.
    case done(DeviceAddress?)
  }

  enum Request: Hashable {
    case prepareAdvertisement
    case prepareDiscoverableAdvertisement
    case removeAdvertisement
    case startDiscovery
    case stopDiscovery
    /// Make the kernel accept bonds, even where devices may not pair.
    case allowBonds
    /// Make the kernel accept bonds only if devices may pair.
    case restoreBonds
  }

  private enum State: Hashable {
    case idle
    case clearing
    case making
    case ending
    case settling
    case settled
  }

  /// The number of the advertisement, unused by ours while addresses change. A controller with one set has it in set 0.
  static let advertisement: UInt8 = 1
  /// The kernel's time for the whole procedure.
  private static let timeout = Duration.seconds(10)

  private var state = State.idle
  private var isExtended = false
  private var made: DeviceAddress?
  /// The kernel leaves the address of its advertisement to the controller.
  private var isLeftToController = false
  /// When `tick` is due.
  private(set) var deadline: Instant?

  private var clear: (request: Request, opcode: UInt16) {
    isExtended ? (.removeAdvertisement, RemoveAdvertising.opcode) : (.stopDiscovery, StopDiscovery.opcode)
  }
  private var make: (request: Request, opcode: UInt16) {
    isExtended
      ? (.prepareAdvertisement, AddExtendedAdvertisingParameters.opcode) : (.startDiscovery, StartDiscovery.opcode)
  }

  /// - Parameter isExtended: true if the controller has the extended advertising commands.
  mutating func begin(isExtended: Bool, at now: Instant) -> [Action] {
    self.isExtended = isExtended
    made = nil
    isLeftToController = false
    state = .clearing
    deadline = now.advanced(by: Self.timeout)
    return [.send(clear.request)]
  }

  /// The kernel, or another program, sent this to the controller.
  mutating func observed(_ packet: CommandPacket) {
    guard state == .making || state == .ending else { return }
    let value: UInt64?
    switch packet.opcode {
    case LESetRandomAddress.opcode where !isExtended: value = try? LESetRandomAddress(decoding: packet).address
    case LESetAdvertisingSetRandomAddress.opcode where isExtended:
      guard let command = try? LESetAdvertisingSetRandomAddress(decoding: packet),
        command.advertisingHandle <= Self.advertisement
      else { return }
      value = command.address
    case LESetExtendedAdvertisingParameters.opcode where isExtended:
      guard let command = try? LESetExtendedAdvertisingParameters(decoding: packet),
        command.advertisingHandle <= Self.advertisement
      else { return }
      isLeftToController = command.ownAddressType == .publicIdentity || command.ownAddressType == .randomIdentity
      return
    default: value = nil
    }
    guard let value, value >> 46 == 0b01 else { return }
    made = DeviceAddress(value: value, kind: .random)
  }

  /// The kernel answered one of its management commands.
  mutating func answered(_ opcode: UInt16) -> [Action] {
    switch state {
    case .clearing where opcode == clear.opcode:
      state = .making
      return [.send(make.request)]
    case .making where opcode == make.opcode:
      // The kernel relies on a received address, even if it answered with an error.
      state = .ending
      return [.send(clear.request)]
    case .ending where opcode == clear.opcode:
      guard isLeftToController else { return end() }
      state = .settling
      return [.send(.allowBonds), .send(.prepareDiscoverableAdvertisement)]
    case .settling where opcode == make.opcode:
      state = .settled
      return [.send(.restoreBonds), .send(clear.request)]
    case .settled where opcode == clear.opcode: return end()
    default: return []
    }
  }

  mutating func tick(at now: Instant) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    return end()
  }

  /// The actions before the controller is closed.
  var closing: [Action] { state == .settling ? [.send(.restoreBonds)] : [] }

  private mutating func end() -> [Action] {
    defer {
      state = .idle
      deadline = nil
    }
    return closing + (state == .settling ? [.send(clear.request)] : []) + [.done(made)]
  }
}
