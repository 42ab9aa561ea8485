import Adapter
import Bluetooth
import HCI

/// Has the kernel make a private address, and learns it.
///
/// The kernel's SMP assumes that a link that another program initiates comes from the private address that the kernel
/// made last, and does not reveal that. It makes one for each new advertisement; a controller with legacy commands gets
/// one with a discovery, if the one before is 15 minutes old. So an advertisement is prepared and removed, or a
/// discovery started and stopped, and the address is read off the kernel's command to the controller. The advertisement
/// also has the kernel take links that come in to have reached us under a random address.
///
/// | State    | Input                                | Actions and next state                                   |
/// |----------|--------------------------------------|----------------------------------------------------------|
/// | idle     | `begin`                              | clear: clearing                                          |
/// | clearing | any answer                           | make: making                                             |
/// | making   | the command with the random address  | it is kept in mind                                       |
/// | making   | success                              | clear: ending                                            |
/// | making   | an error                             | `done` with the address heard: idle                      |
/// | ending   | any answer                           | `done` with the address, nil if there was none: idle     |
/// | any      | `tick` after the deadline            | `done` with the address heard: idle                      |
///
/// |       | extended                                     | legacy                                           |
/// |-------|----------------------------------------------|--------------------------------------------------|
/// | clear | Remove Advertising                           | Stop Discovery, as which an active scan counts   |
/// | make  | Add Extended Advertising Parameters          | Start Discovery                                  |
/// | heard | LE Set Advertising Set Random Address        | LE Set Random Address                            |
///
/// The command and the answers come over two sockets. Commands that the kernel sent before an answer have been heard
/// when it answers the next.
struct PrivateAddressMachine {
  enum Action: Hashable {
    case send(Request)
    /// The address that the kernel made; nil if it made none.
    case done(DeviceAddress?)
  }

  enum Request: Hashable {
    case prepareAdvertisement
    case removeAdvertisement
    case startDiscovery
    case stopDiscovery

    fileprivate var opcode: UInt16 {
      switch self {
      case .prepareAdvertisement: AddExtendedAdvertisingParameters.opcode
      case .removeAdvertisement: RemoveAdvertising.opcode
      case .startDiscovery: StartDiscovery.opcode
      case .stopDiscovery: StopDiscovery.opcode
      }
    }
  }

  private enum State: Hashable {
    case idle
    case clearing
    case making
    case ending
  }

  /// The number of the advertisement, which none of ours has while addresses change.
  static let advertisement: UInt8 = 1
  /// How long the kernel may take for all of it.
  private static let timeout = Duration.seconds(10)

  private var state = State.idle
  private var isExtended = false
  private var made: DeviceAddress?
  /// When `tick` is due.
  private(set) var deadline: Instant?

  private var clear: Request { isExtended ? .removeAdvertisement : .stopDiscovery }
  private var make: Request { isExtended ? .prepareAdvertisement : .startDiscovery }

  /// - Parameter isExtended: whether the controller has the extended advertising commands.
  mutating func begin(isExtended: Bool, at now: Instant) -> [Action] {
    self.isExtended = isExtended
    made = nil
    state = .clearing
    deadline = now.advanced(by: Self.timeout)
    return [.send(clear)]
  }

  /// The kernel, or another program, sent this to the controller.
  mutating func heard(_ packet: CommandPacket) {
    guard state == .making || state == .ending else { return }
    let value: UInt64?
    switch packet.opcode {
    case LESetRandomAddress.opcode where !isExtended: value = try? LESetRandomAddress(decoding: packet).address
    case LESetAdvertisingSetRandomAddress.opcode where isExtended:
      let command = try? LESetAdvertisingSetRandomAddress(decoding: packet)
      value = command?.advertisingHandle == Self.advertisement ? command?.address : nil
    default: value = nil
    }
    guard let value, value >> 46 == 0b01 else { return }
    made = DeviceAddress(value: value, kind: .random)
  }

  /// The kernel answered one of its management commands.
  mutating func answered(_ opcode: UInt16, _ status: ManagementStatus) -> [Action] {
    switch state {
    case .clearing where opcode == clear.opcode:
      state = .making
      return [.send(make)]
    case .making where opcode == make.opcode:
      // The kernel relies on an address that was heard, regardless of the other steps.
      guard status == .success else { return end(with: made) }
      state = .ending
      return [.send(clear)]
    case .ending where opcode == clear.opcode: return end(with: made)
    default: return []
    }
  }

  mutating func tick(at now: Instant) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    return end(with: made)
  }

  private mutating func end(with address: DeviceAddress?) -> [Action] {
    state = .idle
    deadline = nil
    return [.done(address)]
  }
}
